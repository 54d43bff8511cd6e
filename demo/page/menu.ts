// The one menu of the page: opened at a button, used with mouse or arrow keys, closed by Escape or a click elsewhere.
import { find } from '../../pages/element.ts';

export interface MenuItem {
  readonly text: string;
  readonly run: () => void;
}

export type OpenMenu = (at: HTMLElement, items: readonly MenuItem[]) => void;

/** Between the menu and its button, and between the menu and the edge of the window. */
const GAP_PX = 6;
const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => (at === last ? 0 : at + 1),
  ArrowUp: (at, last) => (at <= 0 ? last : at - 1),
  Home: () => 0,
  End: (_, last) => last,
};

export function createMenu(): OpenMenu {
  const menu = find('#menu', HTMLElement);
  let opener: HTMLElement | null = null;

  const buttons = () => [...menu.querySelectorAll('button')];

  menu.addEventListener('keydown', (event) => {
    const all = buttons();
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = all.findIndex((button) => button === document.activeElement);
    all[step(at, all.length - 1)]?.focus();
  });
  menu.addEventListener('toggle', (event) => {
    const isOpen = event.newState === 'open';
    opener?.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen && (menu.contains(document.activeElement) || document.activeElement === document.body)) opener?.focus();
  });

  function itemButton({ text, run }: MenuItem): HTMLElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.role = 'menuitem';
    button.textContent = text;
    button.addEventListener('click', () => {
      menu.hidePopover();
      run();
    });
    return button;
  }

  function place(at: HTMLElement): void {
    const anchor = at.getBoundingClientRect();
    const own = menu.getBoundingClientRect();
    const fitsBelow = anchor.bottom + GAP_PX + own.height < innerHeight;
    const top = fitsBelow ? anchor.bottom + GAP_PX : anchor.top - GAP_PX - own.height;
    menu.style.top = `${Math.max(GAP_PX, top)}px`;
    menu.style.left = `${Math.max(GAP_PX, anchor.right - own.width)}px`;
  }

  return (at, items) => {
    menu.hidePopover();
    opener = at;
    menu.replaceChildren(...items.map(itemButton));
    menu.showPopover();
    place(at);
    buttons()[0]?.focus();
  };
}
