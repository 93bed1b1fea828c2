'use strict';

require('./read-write')(require('../../..'));
