import assert from 'node:assert/strict'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parsePeerAddresses } from '../../../src/p2p/peers/address.ts'
import { openPeerFiles } from '../../../src/service/settings/peer-files.ts'
import { captureLog } from '../../support/captured-log.ts'
import { watchTimers } from '../../support/leaks/timers.ts'
import { testDirectory } from '../../support/test-store.ts'

const configured = '/ip4/192.0.2.1/tcp/9171'
const added = '/ip4/192.0.2.2/tcp/9171'

const idOf = (letter: string): string => `12D3KooW${letter.repeat(44)}`
const settings = {
  bootstrapPeers: [],
  bootstrapPeersFile: null,
  p2pAnnounce: [],
  p2pAnnounceFile: null,
}

test('siblings are named apart, but for those that are bootstrap peers as well', async (t) => {
  const path = join(testDirectory(t), 'siblings')
  const [one, two] = [`${configured}/p2p/${idOf('A')}`, `${added}/p2p/${idOf('B')}`]
  await writeFile(path, `${one}\n${two}\nnonsense\n`)
  const { log } = captureLog()
  const peers = [`/dns4/elsewhere/tcp/9171/p2p/${idOf('A')}`]
  const files = await openPeerFiles({ ...settings, bootstrapPeers: peers, siblingsFile: path }, log)
  t.after(() => files.close())
  assert.deepEqual(files.siblings(), [two])
  assert.deepEqual(files.bootstrapPeers(), peers)
  const received = Promise.withResolvers<string[]>()
  files.follow({
    setBootstrapPeers: () => assert.fail('other peers'),
    setAnnounce: () => undefined,
    setSiblings: received.resolve,
  })
  await writeFile(`${path}.new`, `${one}\n`)
  await rename(`${path}.new`, path)
  assert.deepEqual(await received.promise, [])
})

test('a peer that cannot be one is left out of a file, and keeps no other from being used', async (t) => {
  const path = join(testDirectory(t), 'peers')
  const good = `${configured}/p2p/${idOf('A')}`
  await writeFile(path, `${added}/p2p/${idOf('z')}\n${good}\n${added}/p2p/x\n`)
  const { log, messages } = captureLog()
  const files = await openPeerFiles({ ...settings, bootstrapPeersFile: path }, log)
  t.after(() => files.close())
  assert.deepEqual(files.bootstrapPeers(), [good])
  assert.equal(parsePeerAddresses(files.bootstrapPeers()).length, 1)
  assert.deepEqual(messages('warn'), ['line skipped', 'line skipped'])
})

test('addresses of a file join those configured; one that a node refuses is only logged', async (t) => {
  const path = join(testDirectory(t), 'announce')
  await writeFile(path, '')
  const { log, messages } = captureLog()
  const files = await openPeerFiles(
    { ...settings, p2pAnnounce: [configured], p2pAnnounceFile: path },
    log,
  )
  t.after(() => files.close())
  assert.deepEqual(files.announce(), [configured])
  const received = Promise.withResolvers<string[]>()
  files.follow({
    setBootstrapPeers: () => undefined,
    setAnnounce: (addresses) => {
      received.resolve(addresses)
      throw new Error('no such address here')
    },
  })
  await writeFile(`${path}.new`, `${added}\n`)
  await rename(`${path}.new`, path)
  assert.deepEqual(await received.promise, [configured, added])
  assert.deepEqual(messages('warn'), ['addresses of a file not taken over'])
  assert.deepEqual(files.announce(), [configured, added])
})

test('files that nobody names are whole, and others as long as they can be read', async (t) => {
  const folder = testDirectory(t)
  const { log } = captureLog()
  const wholeOf = async (named: object): Promise<readonly boolean[]> => {
    const files = await openPeerFiles({ ...settings, ...named }, log)
    files.close()
    return [files.isWhole(), files.areSiblingsWhole()]
  }
  const [there, missing] = [join(folder, 'there'), join(folder, 'missing')]
  await writeFile(there, '')
  assert.deepEqual(await wholeOf({}), [true, true])
  assert.deepEqual(await wholeOf({ bootstrapPeersFile: there, siblingsFile: there }), [true, true])
  assert.deepEqual(await wholeOf({ bootstrapPeersFile: missing }), [false, true])
  assert.deepEqual(await wholeOf({ siblingsFile: missing }), [true, false])
})

test('peers of a file join those configured as they come, each once', async (t) => {
  const path = join(testDirectory(t), 'peers')
  const [one, two] = [`${configured}/p2p/${idOf('A')}`, `${added}/p2p/${idOf('B')}`]
  await writeFile(path, '')
  const { log } = captureLog()
  const named = { ...settings, bootstrapPeers: [one], bootstrapPeersFile: path }
  const files = await openPeerFiles(named, log)
  t.after(() => files.close())
  const received = Promise.withResolvers<string[]>()
  files.follow({ setBootstrapPeers: received.resolve, setAnnounce: () => assert.fail('announced') })
  await writeFile(`${path}.new`, `${two}\n${one}\n`)
  await rename(`${path}.new`, path)
  assert.deepEqual(await received.promise, [one, two])
})

test('closing ends the reading of each file', async (t) => {
  const folder = testDirectory(t)
  const named = {
    bootstrapPeersFile: join(folder, 'peers'),
    p2pAnnounceFile: join(folder, 'announced'),
    siblingsFile: join(folder, 'siblings'),
  }
  const running = watchTimers(t)
  const files = await openPeerFiles({ ...settings, ...named }, captureLog().log)
  assert.equal(running().length, 3)
  files.close()
  assert.deepEqual(running(), [])
})
