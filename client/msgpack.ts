// The compact codec, for `new TidemarkClient({ codec: msgpackCodec, … })`. Brings the package msgpackr along.
export { msgpackCodec } from '../protocol/codec-msgpack.ts';
