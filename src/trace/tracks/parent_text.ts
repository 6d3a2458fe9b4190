/** Text for an event without a usable parent. */

import type { ParentLink } from '../../model/types.js';

const TEXTS: Readonly<Record<ParentLink, string | null>> = {
  known: null,
  none: null,
  foreign: null,
  lost: 'not in the file any more',
  stale: 'stale: of earlier work',
  again: 'begun again while under way',
};

export const parentText = (link: ParentLink): string | null => TEXTS[link];
