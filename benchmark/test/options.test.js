'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { parseOptions } = require('../harness/options');
const { SCENARIOS } = require('../suites');

/** @param {string[]} args */
function parse(args) {
  return parseOptions(args, SCENARIOS);
}

/** @param {string[]} args */
function names(...args) {
  return parse(args).scenarios.map(({ name }) => name);
}

test('all scenarios run where none is asked for', () => {
  assert.deepEqual(
    names('--quick'),
    SCENARIOS.map(({ name }) => name),
  );
});

test('a scenario is chosen by its name, and several by how their names begin', () => {
  assert.deepEqual(names('--scenario', 'ping-pong-1x64'), ['ping-pong-1x64']);
  assert.deepEqual(names('--scenario', 'stream,churn,stream-1x64k'), [
    'stream-1x64k',
    'stream-100x32k',
    'churn-64',
  ]);
  assert.throws(() => parse(['--scenario', 'pong']), /there is no scenario "pong", only/);
});

test('peers run in the order that is asked for, in the scenarios that they take part in', () => {
  const { scenarios } = parse([
    '--scenario',
    'idle,one-process',
    '--peers',
    'turbo-net,oxwire-pool',
  ]);
  const peers = scenarios.map((one) => one.peers.map(({ name }) => name));
  assert.deepEqual(peers, [['turbo-net', 'oxwire-pool'], ['turbo-net']]);
  assert.throws(() => parse(['--peers', 'mio']), /there is no peer "mio", only/);
  assert.throws(
    () => parse(['--scenario', 'idle', '--peers', 'epoll']),
    /epoll takes part in none of the scenarios/,
  );
});

test('no two scenarios, and no two peers of one, have the same name', () => {
  const all = SCENARIOS.map(({ name }) => name);
  assert.equal(new Set(all).size, all.length);
  for (const { name, peers } of SCENARIOS) {
    assert.equal(new Set(peers.map((peer) => peer.name)).size, peers.length, name);
  }
});

test('numbers out of bounds are refused', () => {
  assert.throws(() => parse(['--cycles', '0']), /--cycles takes a whole number from 1/);
  assert.throws(() => parse(['--seconds', 'x']), /--seconds takes a number from 0.05/);
});
