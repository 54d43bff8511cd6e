// What must be refused, and how, for protocol/vectors/invalid.v1.json.

export type InvalidCase = {
  name: string;
  why: string;
  from: 'client' | 'server';
  /** A text message of the JSON subprotocol, or the bytes of a binary one of the MessagePack subprotocol in hex. */
  text?: string;
  hex?: string;
  error: { fatal: true } | { fatal: false; code: string; field?: string; id?: number };
};

const fatal = { fatal: true } as const;
const invalid = (field: string, id?: number): InvalidCase['error'] =>
  id === undefined
    ? { fatal: false, code: 'invalid_field', field }
    : { fatal: false, code: 'invalid_field', field, id };

export const invalidCases: InvalidCase[] = [
  { name: 'not JSON', why: 'DT5', from: 'client', text: '{"t":"ping"', error: fatal },
  { name: 'no object', why: 'DT5', from: 'client', text: '["ping"]', error: fatal },
  { name: 'no type', why: 'DT5', from: 'client', text: '{"id":1}', error: fatal },
  {
    name: 'unknown type',
    why: 'DT5',
    from: 'client',
    text: '{"t":"shout","id":3}',
    error: { fatal: false, code: 'unknown_frame', field: 't', id: 3 },
  },
  {
    name: 'a type that every object has',
    why: 'DT5',
    from: 'client',
    text: '{"t":"constructor"}',
    error: { fatal: false, code: 'unknown_frame', field: 't' },
  },
  {
    name: 'an id as a number',
    why: 'words: ids',
    from: 'client',
    text: '{"t":"ack","id":5,"items":[{"conv":"c1","seq":1},{"conv":7,"seq":1}]}',
    error: invalid('items[1].conv', 5),
  },
  {
    name: 'a seq in quotes',
    why: 'words: numbers',
    from: 'client',
    text: '{"t":"ack","id":5,"items":[{"conv":"c1","seq":"2"}]}',
    error: invalid('items[0].seq', 5),
  },
  {
    name: 'a seq above 2^53-1',
    why: 'words: numbers',
    from: 'client',
    text: '{"t":"ack","id":5,"items":[{"conv":"c1","seq":9007199254740992}]}',
    error: invalid('items[0].seq', 5),
  },
  {
    name: 'seq and message_id in one item',
    why: 'AK9',
    from: 'client',
    text: '{"t":"ack","id":5,"items":[{"conv":"c1","seq":2,"message_id":"m"}]}',
    error: invalid('items[0].message_id', 5),
  },
  {
    name: 'an id with a lone surrogate',
    why: 'words: ids',
    from: 'client',
    text: '{"t":"clear","id":5,"conv":"\\ud800"}',
    error: invalid('conv', 5),
  },
  {
    name: 'an empty id',
    why: 'words: ids',
    from: 'client',
    text: '{"t":"clear","id":5,"conv":""}',
    error: invalid('conv', 5),
  },
  {
    name: 'prefs that set nothing',
    why: 'LC5',
    from: 'client',
    text: '{"t":"prefs","id":5,"conv":"c1"}',
    error: invalid('muted', 5),
  },
  {
    name: 'null for a field that may be left out',
    why: 'forward compatible',
    from: 'client',
    text: '{"t":"mark","id":5,"conv":"c1","from_seq":null}',
    error: invalid('from_seq', 5),
  },
  {
    name: 'a digest in upper case',
    why: 'SY8',
    from: 'server',
    text: '{"t":"hb","epoch":"e","sync_version":1,"total":0,"digest":"00000000000A"}',
    error: invalid('digest'),
  },
  { name: 'no bytes', why: 'DT5', from: 'client', hex: '', error: fatal },
  { name: 'JSON as a binary message', why: 'DT5', from: 'client', hex: '7b2274223a2270696e67227d', error: fatal },
  { name: 'a map', why: 'MP1', from: 'client', hex: '81a174a470696e67', error: fatal },
  { name: 'a byte that is never used', why: 'MP4', from: 'client', hex: '91c1', error: fatal },
  { name: 'a type that is no integer', why: 'DT5', from: 'client', hex: '91a470696e67', error: fatal },
  { name: 'a byte after the frame', why: 'DT5', from: 'client', hex: '910900', error: fatal },
  { name: 'a frame that lost its end', why: 'DT5', from: 'client', hex: '93021191', error: fatal },
  {
    name: 'an array that claims 4,294,967,295 elements',
    why: 'MP4',
    from: 'client',
    hex: 'ddffffffff',
    error: fatal,
  },
  {
    name: 'a list that claims 4,294,967,295 items',
    why: 'MP4',
    from: 'client',
    hex: '930211ddffffffff',
    error: fatal,
  },
  { name: 'a string that claims 4 GiB', why: 'MP4', from: 'client', hex: '9208dbffffffff61', error: fatal },
  {
    name: 'unknown type code',
    why: 'DT5',
    from: 'client',
    hex: '920f01',
    error: { fatal: false, code: 'unknown_frame', field: 't' },
  },
  {
    name: 'a float for a seq',
    why: 'MP4',
    from: 'client',
    hex: '9302119192a26331cb4000000000000000',
    error: invalid('items[0].seq', 17),
  },
  {
    name: 'an extension type for a seq',
    why: 'MP4',
    from: 'client',
    hex: '9302119192a26331d6ff00000000',
    error: invalid('items[0].seq', 17),
  },
  {
    name: 'a negative seq',
    why: 'words: numbers',
    from: 'client',
    hex: '9302119192a26331ff',
    error: invalid('items[0].seq', 17),
  },
  {
    name: 'a 64-bit seq above 2^53-1',
    why: 'words: numbers',
    from: 'client',
    hex: '9302119192a26331cf0020000000000000',
    error: invalid('items[0].seq', 17),
  },
  {
    name: 'an id that is no UTF-8',
    why: 'words: ids',
    from: 'client',
    hex: '930605a2c328',
    error: invalid('conv', 5),
  },
  {
    name: 'a digest of 5 bytes',
    why: 'SY8',
    from: 'client',
    hex: '9403a16501c4050102030405',
    error: invalid('digest'),
  },
];
