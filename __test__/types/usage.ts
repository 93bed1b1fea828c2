// Compiled by `npm run check`, never run: what the types allow, and what they must refuse.

import * as oxwire from '../..';

void oxwire;
