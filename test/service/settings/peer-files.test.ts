import assert from 'node:assert/strict'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openPeerFiles } from '../../../src/service/settings/peer-files.ts'
import { captureLog } from '../../support/captured-log.ts'
import { testDirectory } from '../../support/test-store.ts'

const configured = '/ip4/192.0.2.1/tcp/9171'
const added = '/ip4/192.0.2.2/tcp/9171'

test('addresses of a file join those configured; one that a node refuses is only logged', async (t) => {
  const path = join(testDirectory(t), 'announce')
  await writeFile(path, '')
  const { log, messages } = captureLog()
  const files = await openPeerFiles(
    {
      bootstrapPeers: [],
      bootstrapPeersFile: null,
      p2pAnnounce: [configured],
      p2pAnnounceFile: path,
    },
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
