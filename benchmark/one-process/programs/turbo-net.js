'use strict';

require('./read-write')(require('turbo-net'));
