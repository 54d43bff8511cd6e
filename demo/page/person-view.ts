// One person: what the server says, and beside it what each device shows.
import type { Person } from '../cast.ts';
import type { Standing } from '../demo-api.ts';
import type { Device } from './device.ts';
import { createDeviceView, type DeviceTools } from './device-view.ts';
import { find, setText, stamp } from '../../pages/element.ts';
import { countText } from './numbers.ts';

export interface PersonView {
  readonly element: HTMLElement;
  update(standing: Standing): void;
}

export function createPersonView(person: Person, devices: readonly Device[], tools: DeviceTools): PersonView {
  const element = stamp('person-template');
  const server = find('.person-server', HTMLElement, element);
  const own = devices.filter((device) => device.person === person);
  setText(find('.person-name', HTMLElement, element), person.name);
  find('.devices', HTMLElement, element).append(...own.map((device) => createDeviceView(device, tools)));
  return {
    element,
    update({ users }) {
      const standing = users.find(({ user }) => user === person.user);
      if (standing === undefined) return;
      const { total, sync_version: syncVersion, digest } = standing;
      setText(server, `server: ${countText(total)} unread · v${syncVersion} · ${digest.slice(0, 6)}`);
    },
  };
}
