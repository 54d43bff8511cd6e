import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inDataFolder } from '../../../src/data-folder.ts';
import { tempFolder } from '../../support/temp-folder.ts';

test('the data folder is made with those above it, for the owner alone, and used as it is once it is there', () => {
  const above = join(tempFolder(), 'above');
  const folder = join(above, 'data');
  expect(inDataFolder(folder, () => existsSync(folder))).toBe(true);
  for (const made of [above, folder]) expect(statSync(made).mode & 0o777).toBe(0o700);
  expect(inDataFolder(folder, () => 'again')).toBe('again');
});

test('whatever makes it unusable, the error names the folder and the setting', () => {
  const file = join(tempFolder(), 'file');
  writeFileSync(file, '');
  const under = join(file, 'data');
  expect(() => inDataFolder(under, () => {})).toThrow(
    `cannot use ${under}, the folder that TIDEMARK_DATA_DIR names: ENOTDIR`,
  );
  const full = (): void => {
    throw new Error('the disk is full');
  };
  const folder = tempFolder();
  expect(() => inDataFolder(folder, full)).toThrow(
    `cannot use ${folder}, the folder that TIDEMARK_DATA_DIR names: the disk is full`,
  );
});
