// The strip that says whether the promise holds.
import type { Tally } from './checker.ts';
import { find, setText } from '../../pages/element.ts';
import { countText } from './numbers.ts';

export function createStrip(): (tally: Tally) => void {
  const strip = find('#strip', HTMLElement);
  const checks = find('#checks', HTMLElement);
  const level = find('#level', HTMLElement);
  return (tally) => {
    strip.dataset['verdict'] = tally.wrong === 0 ? 'right' : 'wrong';
    setText(checks, `${countText(tally.checks)} checks, ${countText(tally.wrong)} wrong`);
    setText(level, `${tally.level} of ${tally.of} devices level`);
  };
}
