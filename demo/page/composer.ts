// The form in which somebody says something somewhere, and the buttons for what can go wrong on the way.
import { type Person, people, personOf, type Room, roomOf, rooms } from '../cast.ts';
import type { Deeds, Draft } from './deeds.ts';
import { fillSelect, find } from '../../pages/element.ts';

/** In the list of mentions. */
const NOBODY = '';
const EVERYBODY = '*';

export function createComposer(deeds: Deeds, failed: (error: unknown) => void): void {
  const form = find('#composer', HTMLFormElement);
  const sender = find('#sender', HTMLSelectElement);
  const place = find('#room', HTMLSelectElement);
  const mention = find('#mention', HTMLSelectElement);
  const text = find('#text', HTMLInputElement);
  const notice = find('#notice', HTMLInputElement);

  const person = (): Person => personOf(sender.value) ?? people[0];
  const room = (): Room => roomOf(place.value) ?? (rooms[0] as Room);

  function draft(): Draft {
    return {
      sender: person(),
      room: room(),
      text: text.value.trim(),
      mentions: [NOBODY, EVERYBODY].includes(mention.value) ? [] : [mention.value],
      mentionsAll: mention.value === EVERYBODY,
      isNotice: notice.checked,
    };
  }

  function offer(): void {
    const { user } = person();
    const open = rooms.filter(({ members }) => members.includes(user));
    fillSelect(
      place,
      open.map(({ conv, title }) => ({ value: conv, text: title })),
    );
    const others = people.filter((one) => one.user !== user && room().members.includes(one.user));
    fillSelect(mention, [
      { value: NOBODY, text: 'nobody' },
      ...others.map((one) => ({ value: one.user, text: one.name })),
      { value: EVERYBODY, text: 'everybody' },
    ]);
  }

  /** One at a time a button, so that a double click is not two messages. */
  function onClick(button: HTMLButtonElement, run: () => Promise<void>): void {
    button.addEventListener('click', (event) => {
      event.preventDefault();
      if (button.ariaBusy === 'true') return;
      button.ariaBusy = 'true';
      void run()
        .catch(failed)
        .finally(() => (button.ariaBusy = null));
    });
  }

  async function send(times: number): Promise<void> {
    const given = draft();
    text.value = '';
    await deeds.send(given, times);
  }

  fillSelect(
    sender,
    people.map(({ user, name }) => ({ value: user, text: name })),
  );
  sender.value = people[1].user;
  offer();
  sender.addEventListener('change', offer);
  place.addEventListener('change', offer);
  const button = (id: string) => find(`#${id}`, HTMLButtonElement);
  form.addEventListener('submit', (event) => event.preventDefault());
  onClick(button('send'), () => send(1));
  onClick(button('send-twice'), () => send(2));
  onClick(button('recall'), () => deeds.recallLast(room()));
  onClick(button('flood'), () => deeds.flood(draft()));
  onClick(button('restart'), () => deeds.restart());
  onClick(button('start-over'), () => deeds.startOver());
}
