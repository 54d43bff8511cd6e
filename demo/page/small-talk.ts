const LINES = [
  'The tide turns in an hour.',
  'Has anybody seen the blue rope?',
  'I am on the pier.',
  'Two more tickets are sold.',
  'The kettle is on.',
  'Shall we move it to four?',
  'The ferry is late again.',
  'I have sent you the list.',
  'That was the last box.',
  'Who has the key to the shed?',
  'It is raining here.',
  'Sounds good to me.',
];
let next = 0;

/** For those who would rather press a button than think of something to say. */
export function smallTalk(): string {
  const line = LINES[next % LINES.length] ?? '';
  next++;
  return line;
}
