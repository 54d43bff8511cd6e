/** Those of `shown` that were not true at any moment since the one before; `truth`: all that was true, in order. */
export function trueInOrder(shown: readonly number[], truth: readonly number[]): number[] {
  const lies: number[] = [];
  let from = 0;
  for (const number of shown) {
    const at = truth.indexOf(number, from);
    if (at < 0) lies.push(number);
    else from = at;
  }
  return lies;
}
