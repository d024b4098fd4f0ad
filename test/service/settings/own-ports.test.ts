import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portCollisions, tcpAddress } from '../../../src/service/settings/own-ports.ts'

/** The names of each two of these hosts, all with one port, that cannot both listen. */
function collisionsOf(hosts: readonly string[], port = 80): string[] {
  const listeners = hosts.map((host, index) => [`${index}`, { host, port }] as const)
  return portCollisions(listeners).map((text) => text.replace(/ at .* and (\d) at .*/, ' $1'))
}

test('each two listeners with one port are named once, neighbours or not', () => {
  assert.deepEqual(collisionsOf(['127.0.0.1', '10.0.0.1', '127.0.0.1', '127.0.0.1']), [
    '0 2',
    '0 3',
    '2 3',
  ])
  const [text] = portCollisions([
    ['a', { host: '127.0.0.1', port: 80 }],
    ['b', { host: '::', port: 80 }],
  ])
  assert.equal(
    text,
    'a at 127.0.0.1:80 and b at [::]:80 want the same port; accepted is one of its own for each',
  )
})

test('an address of all takes the port of every other, and :: that of IPv4 as well', () => {
  assert.deepEqual(collisionsOf(['0.0.0.0', '127.0.0.1']), ['0 1'])
  assert.deepEqual(collisionsOf(['127.0.0.1', '0.0.0.0']), ['0 1'])
  assert.deepEqual(collisionsOf(['127.0.0.1', '::']), ['0 1'])
  assert.deepEqual(collisionsOf(['0.0.0.0', '::1']), [])
})

test('ports that differ, and those that the system chooses, do not collide', () => {
  const one = { host: '0.0.0.0', port: 80 }
  assert.deepEqual(
    portCollisions([
      ['a', one],
      ['b', { ...one, port: 81 }],
    ]),
    [],
  )
  assert.deepEqual(collisionsOf(['0.0.0.0', '0.0.0.0'], 0), [])
})

test('the address of a multiaddr is its host and its port', () => {
  assert.deepEqual(tcpAddress('/ip6/::/tcp/9171'), { host: '::', port: 9_171 })
})
