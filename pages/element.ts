// Small things around the DOM. Everything shown goes in as text; the policy of the page allows nothing else.

/** The one element that matches; a page without it is broken, and says so at once. */
export function find<E extends Element>(selector: string, kind: new () => E, within: ParentNode = document): E {
  const found = within.querySelector(selector);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${selector}`);
}

/** A copy of what a `<template>` holds. */
export function stamp(id: string): HTMLElement {
  const { content } = find(`#${id}`, HTMLTemplateElement);
  return find('*', HTMLElement, document.importNode(content, true));
}

/** Changes nothing when nothing changes, so that nobody who reads aloud is disturbed. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function fillSelect(select: HTMLSelectElement, options: readonly { value: string; text: string }[]): void {
  const held = select.value;
  select.replaceChildren(...options.map(({ value, text }) => new Option(text, value, false, value === held)));
}

/** Plays a CSS animation once more. */
export function replay(element: HTMLElement, name: string): void {
  element.classList.remove(name);
  // Reading a size makes the browser notice that the class was away.
  void element.offsetWidth;
  element.classList.add(name);
}

/** An element with what is in it. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...content);
  return made;
}
