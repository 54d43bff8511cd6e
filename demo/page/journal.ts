// What has just happened, in plain words; the newest comes first.
import { find } from '../../pages/element.ts';

export type Tone = 'plain' | 'fault' | 'good' | 'wrong';
export type Say = (text: string, tone?: Tone) => void;

const ENTRIES_MAX = 120;
const time = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });

export function createJournal(): Say {
  const list = find('#journal', HTMLOListElement);
  return (text, tone = 'plain') => {
    const entry = document.createElement('li');
    entry.dataset['tone'] = tone;
    const when = document.createElement('time');
    when.textContent = time.format(new Date());
    entry.append(when, text);
    list.prepend(entry);
    while (list.childElementCount > ENTRIES_MAX) list.lastElementChild?.remove();
  };
}
