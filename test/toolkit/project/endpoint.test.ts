/** What of the URLs of Hosts and nodes is written down where it may be published. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostEndpoint, isIncomplete, rpcEndpoint } from '../../../src/toolkit/project/endpoint.ts'

test('a Host is named with its path, and without user, query and slashes at the end', () => {
  assert.equal(hostEndpoint('http://host:9181'), 'http://host:9181')
  assert.equal(hostEndpoint('http://host:9181//'), 'http://host:9181')
  assert.equal(hostEndpoint('https://user:secret@host/one/?key=secret'), 'https://host/one')
})

test('a node is named by its origin, and what may be a secret beside it is shown as left out', () => {
  for (const url of ['https://node', 'https://node/']) {
    assert.equal(rpcEndpoint(new URL(url)), 'https://node')
    assert.equal(isIncomplete(rpcEndpoint(new URL(url))), false)
  }
  for (const url of [
    'https://node/v3/secret',
    'https://node/?key=secret',
    'https://secret@node',
    'https://:secret@node',
  ]) {
    assert.equal(rpcEndpoint(new URL(url)), 'https://node/…')
    assert.equal(isIncomplete(rpcEndpoint(new URL(url))), true)
  }
})
