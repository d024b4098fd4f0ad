/** The Views of a folder on the real program: two hundred of them, changed as Kubernetes does, and killed in between. */
import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { viewFileID } from '../../../src/views/view-file.ts'
import { until } from '../../support/p2p-room.ts'
import { type Program, prepareProgram } from '../../support/programs.ts'
import { testDirectory } from '../../support/test-store.ts'
import { registrationOf, viewFileOf } from './support/folder-room.ts'
import { projectVolume } from './support/projected-volume.ts'

const token = 'admin'

interface Listed {
  readonly views: readonly { id: string; name: string; state: string; origins: string[] }[]
  readonly folder: {
    problem: string | null
    files: number
    served: number
    refused: number
    others: { file: string; reason: string }[]
  } | null
}

async function prepareHost(t: TestContext, viewsDir: string): Promise<Program> {
  const host = await prepareProgram('host', {
    CHAIN_NAME: 'Local',
    CHAIN_NETWORK: 'Devnet',
    HOST_ADMIN_TOKEN: token,
    HOST_VIEWS_DIR: viewsDir,
    MAX_VIEWS: '250',
    LOG_LEVEL: 'error',
  })
  t.after(() => host.close())
  return host
}

const viewsUrl = (host: Program): string => host.graphqlUrl.replace('graphql', 'views')
const list = async (host: Program): Promise<Listed> =>
  (await (await fetch(viewsUrl(host))).json()) as Listed
const idsOf = ({ views }: Listed): string[] => views.map(({ id }) => id).toSorted()

async function request(host: Program, method: string, path: string, body?: unknown) {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const headers = { authorization: `Bearer ${token}`, ...type }
  return await fetch(`${viewsUrl(host)}${path}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  })
}

test('two hundred Views of a folder are served as it says, however often the Host is killed', async (t) => {
  const path = testDirectory(t)
  const query = (index: number): string =>
    index < 150 ? 'Log { address }' : 'Log { address data }'
  // Fifty names are there twice.
  const all = Array.from({ length: 200 }, (_, index) =>
    viewFileOf(`Of${index % 150}`, query(index)),
  )
  const garbage = { name: `0x${'0'.repeat(64)}.view`, bytes: new Uint8Array(1_000) }
  await projectVolume(path, [...all, garbage])
  const host = await prepareHost(t, path)
  await host.start()
  await until(async () => (await list(host)).views.length > 40)
  await host.kill()
  const removed = all.slice(0, 60)
  const kept = all.slice(60)
  await projectVolume(path, [...kept, garbage])
  await host.start()
  await until(async () => (await list(host)).folder?.served === kept.length)
  const listed = await list(host)
  assert.deepEqual(idsOf(listed), kept.map(({ name }) => viewFileID(name)).toSorted())
  assert.deepEqual(new Set(listed.views.map(({ origins }) => origins.join())), new Set(['folder']))
  assert.equal(new Set(listed.views.map(({ name }) => name)).size, kept.length)
  assert.deepEqual(
    listed.folder?.others.map(({ file, reason }) => [file, reason.split(':')[0]]),
    [[garbage.name, 'VIEWS_WIRE_MALFORMED']],
  )
  const { errors } = await host.health()
  assert.ok(errors.some(({ code }) => code === 'HOST_VIEW_FILE_REFUSED'))
  await projectVolume(path, [...removed, ...kept])
  await until(async () => (await list(host)).views.length > kept.length + 5)
  await host.kill()
  await host.start({ HOST_VIEWS_DIR: '' })
  assert.deepEqual(await list(host), { views: [], folder: null, registry: null })
})

test('a View that is posted and in the folder is one, and a folder that is away changes nothing', async (t) => {
  const path = testDirectory(t)
  const file = viewFileOf('Both')
  await projectVolume(path, [file])
  const host = await prepareHost(t, path)
  await host.start()
  const id = viewFileID(file.name) ?? ''
  const origins = async () => (await list(host)).views.map((view) => view.origins.join())
  await until(async () => (await origins()).join() === 'folder')
  const wire = Buffer.from(registrationOf('Both').wire).toString('base64')
  assert.equal((await request(host, 'POST', '', { wire })).status, 200)
  assert.deepEqual(await origins(), ['folder,posted'])
  await host.kill()
  await rename(path, `${path}-away`)
  await host.start()
  await until(async () => (await list(host)).folder?.problem === 'ENOENT')
  assert.deepEqual(await origins(), ['folder,posted'])
  const { errors } = await host.health()
  assert.ok(errors.some(({ code }) => code === 'HOST_VIEWS_DIR_UNREADABLE'))
  await rename(`${path}-away`, path)
  await until(async () => (await list(host)).folder?.problem === null)
  const refused = await request(host, 'DELETE', `/${id}`)
  const { code } = (await refused.json()) as { code: string }
  assert.deepEqual([refused.status, code], [409, 'HOST_VIEW_IN_FOLDER'])
  await projectVolume(path, [])
  await until(async () => (await origins()).join() === 'posted')
  assert.equal((await request(host, 'DELETE', `/${id}`)).status, 204)
  assert.deepEqual(await origins(), [])
})
