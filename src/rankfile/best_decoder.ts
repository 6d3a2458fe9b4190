/** Chooses the decoder: the addon's if it was built. */

import { type Decoder, typescriptDecoder } from './decoder.js';
import { nativeDecoder } from './native_decoder.js';

export const bestDecoder: Decoder = nativeDecoder(typescriptDecoder) ?? typescriptDecoder;
