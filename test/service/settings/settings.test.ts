import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import type { SettingsTable } from '../../../src/service/settings/setting.ts'
import {
  boolean,
  choice,
  integerBetween,
  list,
  path,
  secretText,
  text,
  url,
} from '../../../src/service/settings/setting-kinds.ts'
import {
  loadSettings,
  loadSettingsWithOrigins,
  secretsOf,
  settingsTable,
} from '../../../src/service/settings/settings.ts'

interface Example {
  readonly rpcUrls: readonly string[]
  readonly keep: number
  readonly prune: boolean
  readonly mode: 'fast' | 'safe'
  readonly store: string
  readonly secret: string
  readonly note: string | null
}

const table: SettingsTable<Example> = {
  rpcUrls: {
    key: 'node.rpc_url',
    env: 'NODE_RPC_URL',
    kind: list(url('http', 'https')),
    required: true,
    doc: 'Nodes to read from.',
  },
  keep: {
    key: 'pruner.max_blocks',
    env: 'PRUNER_MAX_BLOCKS',
    kind: integerBetween(1, 5_000),
    unit: 'blocks',
    default: 1_000,
    doc: 'How many stay.',
  },
  prune: {
    key: 'pruner.enabled',
    env: 'PRUNER_ENABLED',
    kind: boolean,
    default: true,
    doc: 'Removes.',
  },
  mode: {
    key: 'mode',
    env: 'EXAMPLE_MODE',
    kind: choice(['fast', 'safe']),
    default: 'safe',
    doc: 'How.',
  },
  store: {
    key: 'db.store.path',
    env: 'DB_STORE_PATH',
    kind: path,
    default: '~/.example',
    doc: 'Where.',
  },
  secret: {
    key: 'db.keyring_secret',
    env: 'DB_KEYRING_SECRET',
    kind: secretText,
    required: true,
    secret: true,
    doc: 'Opens the keys.',
  },
  note: { key: 'note', env: 'EXAMPLE_NOTE', kind: text('any text'), doc: 'A | note.' },
}

const folder = await mkdtemp(join(tmpdir(), 'viewmesh-settings-'))
after(() => rm(folder, { recursive: true }))
const needed = { NODE_RPC_URL: 'http://node:8545', DB_KEYRING_SECRET: 'hunter2' }
const complete: Example = {
  rpcUrls: ['http://node:8545'],
  keep: 1_000,
  prune: true,
  mode: 'safe',
  store: join(homedir(), '.example'),
  secret: 'hunter2',
  note: null,
}

type Environment = Readonly<Record<string, string | undefined>>

function load(env: Environment, argv: readonly string[] = []): Example {
  return loadSettings(table, { env, argv })
}

/** The lines of the one message, without its first line and the dashes. */
function problems(env: Environment, argv: readonly string[] = []): string[] {
  try {
    load(env, argv)
  } catch (error) {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'CONFIG_INVALID')
    assert.match(error.remedy ?? '', /--help/)
    const [first = '', ...rest] = error.message.split('\n')
    return rest.length === 0 ? [first] : rest.map((line) => line.replace('  - ', ''))
  }
  return []
}

let files = 0
async function yaml(content: string): Promise<string> {
  files += 1
  const file = join(folder, `${files}.yaml`)
  await writeFile(file, content)
  return file
}

test('settings left out have their defaults, nullable ones are null', () => {
  assert.deepEqual(load(needed), complete)
})

test('a flag overrides the environment, which overrides the file, which overrides the default', async () => {
  const file = await yaml('pruner: {max_blocks: 1, enabled: false}\nmode: fast\n')
  const env = { ...needed, PRUNER_MAX_BLOCKS: '2', EXAMPLE_NOTE: 'from env' }
  const argv = ['--config', file, '--note=from flag']
  const loaded = loadSettingsWithOrigins(table, { env, argv })
  assert.deepEqual(loaded.settings, {
    ...complete,
    keep: 2,
    prune: false,
    mode: 'fast',
    note: 'from flag',
  })
  assert.deepEqual(loaded.origins, {
    rpcUrls: 'environment',
    keep: 'environment',
    prune: 'file',
    mode: 'file',
    store: 'default',
    secret: 'environment',
    note: 'flag',
  })
  assert.deepEqual(loaded.secretFiles, {})
})

test('an empty environment variable and an empty YAML value count as not set', async () => {
  const file = await yaml('pruner:\n  max_blocks:\nnote: ""\n')
  const env = { ...needed, EXAMPLE_MODE: '' }
  const { settings, origins } = loadSettingsWithOrigins(table, { env, argv: ['--config', file] })
  assert.deepEqual(settings, complete)
  assert.deepEqual([origins.keep, origins.note, origins.mode], ['default', 'default', 'default'])
})

test('all problems are reported at once: what was found, where, and what is accepted', async () => {
  const file = await yaml('mode: slow\npruner:\n  max_block: 3\n')
  const env = { PRUNER_ENABLED: 'maybe', NODE_RPC_URL: 'http://a,ftp://b' }
  const flags = ['stray', '--config', file, '--pruner-max-blocks', '0', '--nots', 'the value of it']
  assert.deepEqual(problems(env, flags), [
    'stray: this command takes only flags',
    '--nots is not a flag of this command; did you mean --note?',
    `pruner.max_block in ${file} is not a setting; did you mean pruner.max_blocks?`,
    'NODE_RPC_URL: found "ftp://b", accepted is a URL that begins with http:// or https://',
    '--pruner-max-blocks: found "0", accepted is a whole number from 1 to 5000',
    'PRUNER_ENABLED: found "maybe", accepted is true or false, yes or no, on or off, 1 or 0',
    `mode in ${file}: found "slow", accepted is one of fast, safe`,
    'db.keyring_secret (DB_KEYRING_SECRET or DB_KEYRING_SECRET_FILE) is required and not set; accepted is any text that is not empty',
  ])
})

test('a single problem is the whole message', () => {
  assert.deepEqual(problems({ DB_KEYRING_SECRET: 'x' }), [
    'node.rpc_url (NODE_RPC_URL) is required and not set; accepted is a list in which each entry is a URL that begins with http:// or https://',
  ])
})

test('an unknown YAML section suggests the key of another section that ends alike', async () => {
  const file = await yaml('generator:\n  rpc_url: http://x\n')
  assert.deepEqual(problems(needed, ['--config', file]), [
    `generator.rpc_url in ${file} is not a setting; did you mean node.rpc_url?`,
  ])
})

test('a misspelt variable is reported; foreign ones that share a first word are not', () => {
  const foreign = {
    NODE_ENV: 'production',
    DB_SERVICE_HOST: '10.0.0.1',
    NODE_OPTIONS: '',
    DB_URL: 'x',
    ...{
      PRUNER_MAX_BLOC: '',
      PRUNER_MAX_BL: '3',
      PRUNER_MX_BLOC: '3',
      EXAMPLE_NOTE_FIEL: '/x',
      NOTE_PRUNER: 'x',
    },
  }
  const misspelt = { PRUNER_MAX_BLOCK: '3', PRUNER_MX_BLOCK: '3', DB_KEYRING_SECRET_FIEL: '/x' }
  assert.deepEqual(problems({ ...needed, ...foreign, ...misspelt }), [
    'PRUNER_MAX_BLOCK is not a variable of ours; did you mean PRUNER_MAX_BLOCKS?',
    'PRUNER_MX_BLOCK is not a variable of ours; did you mean PRUNER_MAX_BLOCKS?',
    'DB_KEYRING_SECRET_FIEL is not a variable of ours; did you mean DB_KEYRING_SECRET_FILE?',
  ])
})

test(`\${NAME} in the file is that environment variable; alone and not set it counts as not set`, async () => {
  const file = await yaml(
    `note: "\${GREETING} \${NAME}"\nmode: \${MODE_OF_USE}\nnode:\n  rpc_url: ["\${FIRST}", "\${SECOND}"]\ndb.store.path: " \${STORE} "\n`,
  )
  const env = {
    DB_KEYRING_SECRET: 'hunter2',
    GREETING: 'hello',
    NAME: 'there',
    SECOND: 'http://two',
  }
  const expected = { ...complete, note: 'hello there', rpcUrls: ['http://two'] }
  assert.deepEqual(load(env, ['--config', file]), expected)
})

test(`\${NAME} that is not set inside other text is a problem, and nothing is missing as well`, async () => {
  const file = await yaml(`note: "hello \${NAME}"\n`)
  for (const env of [needed, { ...needed, NAME: '' }])
    assert.deepEqual(problems(env, ['--config', file]), [
      `note in ${file} refers to NAME, which is not set`,
    ])
  const required = await yaml(`node:\n  rpc_url: ["http://\${HOST_NAME}:8545"]\n`)
  assert.deepEqual(problems({ DB_KEYRING_SECRET: 'x' }, ['--config', required]), [
    `node.rpc_url in ${required} refers to HOST_NAME, which is not set`,
  ])
})

test('a file has as many characters as it may, and no more', async () => {
  const start = 'mode: fast\n'
  const full = await yaml(`${start}${'#'.repeat(1_048_576 - start.length)}`)
  assert.equal(load(needed, ['--config', full]).mode, 'fast')
  const more = await yaml(`${start}${'#'.repeat(1_048_577 - start.length)}`)
  assert.deepEqual(problems(needed, ['--config', more]), [
    `${more} has more than 1048576 characters`,
  ])
})

test('what a variable holds is a value, never YAML', async () => {
  const file = await yaml(`note: \${NOTE}\n`)
  const note = 'a: {b: [c'
  assert.equal(load({ ...needed, NOTE: note }, ['--config', file]).note, note)
})

const brokenFiles: Readonly<
  Record<string, { readonly content: string; readonly message: RegExp }>
> = {
  'broken YAML': { content: 'a: [1\nb: 2\n', message: /is not valid YAML: .*line 2/s },
  'a list': { content: '- 1\n', message: /must hold keys and values/ },
  'the same key twice': {
    content: 'note: a\nnote: b\n',
    message: /is not valid YAML: Map keys must be unique/,
  },
  'a map where a value belongs': {
    content: 'note: {a: 1}\n',
    message: /found \{"a":1\}, accepted is any text/,
  },
}

for (const [what, { content, message }] of Object.entries(brokenFiles)) {
  test(`a file with ${what} is reported with its name`, async () => {
    const file = await yaml(content)
    const [problem = ''] = problems(needed, ['--config', file])
    assert.match(problem, message)
    assert.ok(problem.includes(file))
  })
}

test('a missing file is reported', () => {
  const [problem = ''] = problems(needed, ['--config', '/nonexistent.yaml'])
  assert.match(problem, /--config: \/nonexistent.yaml cannot be read \(ENOENT/)
})

test('an empty file is no problem', async () => {
  assert.deepEqual(load(needed, ['--config', await yaml('# nothing yet\n')]), complete)
})

test('a secret is read from the file that ..._FILE or its flag names, without its line break', async () => {
  const file = await yaml('s3cret value\n')
  const env = { NODE_RPC_URL: 'http://node:8545' }
  assert.equal(load({ ...env, DB_KEYRING_SECRET_FILE: file }).secret, 's3cret value')
  for (const [given, argv] of [
    [{ ...env, DB_KEYRING_SECRET_FILE: file }, []],
    [env, ['--db-keyring-secret-file', file]],
  ] as const) {
    const { secretFiles } = loadSettingsWithOrigins(table, { env: given, argv })
    assert.deepEqual(secretFiles, { secret: file })
  }
  assert.equal(load(env, ['--db-keyring-secret-file', file]).secret, 's3cret value')
})

const secretFiles: Readonly<
  Record<string, { readonly make: (path: string) => Promise<unknown>; readonly found: string }>
> = {
  'a directory': {
    make: (path) => mkdir(path),
    found:
      'which is a directory, as in Kubernetes where the Secret lacked that key when the pod was made (add the key, then delete the pod, which stays as it is otherwise)',
  },
  nothing: { make: async () => undefined, found: 'where there is nothing' },
  'an empty file': { make: (path) => writeFile(path, '\n'), found: 'which is empty' },
}

for (const [what, { make, found }] of Object.entries(secretFiles)) {
  test(`DB_KEYRING_SECRET_FILE that points to ${what} stops and names it`, async () => {
    const path = join(folder, what)
    await make(path)
    assert.deepEqual(problems({ NODE_RPC_URL: 'http://a', DB_KEYRING_SECRET_FILE: path }), [
      `DB_KEYRING_SECRET_FILE points to ${path}, ${found}; accepted is a file that holds the secret`,
    ])
  })
}

test('a flag of a secret names a file, and says what is wrong with it', () => {
  const env = { NODE_RPC_URL: 'http://a' }
  assert.deepEqual(problems(env, ['--db-keyring-secret-file']), [
    '--db-keyring-secret-file needs a value',
  ])
  assert.deepEqual(problems(env, ['--db-keyring-secret-file', '/nonexistent']), [
    '--db-keyring-secret-file points to /nonexistent, where there is nothing; accepted is a file that holds the secret',
  ])
})

test('a secret given twice is a problem', () => {
  assert.deepEqual(problems({ ...needed, DB_KEYRING_SECRET_FILE: '/run/secret' }), [
    'DB_KEYRING_SECRET and DB_KEYRING_SECRET_FILE are both set; keep one of them',
  ])
})

test('a secret has no flag of its own, and a bad one is never shown', async () => {
  const file = await yaml('db:\n  keyring_secret: [a, b]\n')
  const env = { NODE_RPC_URL: 'http://a' }
  assert.deepEqual(problems(env, ['--config', file, '--db-keyring-secret=x']), [
    '--db-keyring-secret is not a flag of this command; did you mean --db-keyring-secret-file?',
    `db.keyring_secret in ${file}: found a value that is not shown, accepted is any text that is not empty`,
  ])
})

test('a password inside a URL is not shown', () => {
  const env = { ...needed, NODE_RPC_URL: 'ftp://me:hunter2@node' }
  assert.match(problems(env)[0] ?? '', /^NODE_RPC_URL: found "ftp:\/\/\[redacted\]@node"/)
})

test('the log gets the values of all secret settings', () => {
  assert.deepEqual(secretsOf(table, complete), ['hunter2'])
  const optional: SettingsTable<Pick<Example, 'note' | 'secret'>> = {
    note: { key: 'note', env: 'NOTE', kind: secretText, secret: true, doc: 'Hidden.' },
    secret: table.secret,
  }
  assert.deepEqual(secretsOf(optional, { note: null, secret: 'a' }), ['a'])
})

test('a flag that is given twice counts the second time, and two dashes alone count for nothing', () => {
  const argv = ['--note', 'first', '--mode=fast', '--note', 'second', '--']
  assert.deepEqual(load(needed, argv), { ...complete, mode: 'fast', note: 'second' })
})

test('a flag without a value is a problem, and its setting is not missing as well', () => {
  assert.deepEqual(problems(needed, ['--note']), ['--note needs a value'])
  const env = { DB_KEYRING_SECRET: 'x' }
  assert.deepEqual(problems(env, ['--node-rpc-url=']), ['--node-rpc-url needs a value'])
})

test('the check of the table reports settings that contradict each other', () => {
  const check = ({ keep, prune }: Example): string[] =>
    keep === 7 && prune ? ['pruner.max_blocks 7 needs pruner.enabled false'] : []
  const sources = { argv: [], env: { ...needed, PRUNER_MAX_BLOCKS: '7' } }
  assert.throws(() => loadSettings(table, sources, { check }), {
    code: 'CONFIG_INVALID',
    message: 'pruner.max_blocks 7 needs pruner.enabled false',
  })
  const unchecked = { check: () => assert.fail('there is nothing to check yet') }
  assert.throws(() => loadSettings(table, { argv: ['--note'], env: needed }, unchecked), {
    code: 'CONFIG_INVALID',
    message: '--note needs a value',
  })
})

test('the table of settings in Markdown has a row for each setting', () => {
  const [head, rule, ...rows] = settingsTable(table).split('\n')
  assert.equal(head, '| Key in YAML | Environment | Flag | Default | Meaning |')
  assert.equal(rule, '| --- | --- | --- | --- | --- |')
  assert.deepEqual(rows.slice(1), [
    '| `pruner.max_blocks` | `PRUNER_MAX_BLOCKS` | `--pruner-max-blocks` | `1000` | How many stay. Accepted: a whole number from 1 to 5000 (blocks). |',
    '| `pruner.enabled` | `PRUNER_ENABLED` | `--pruner-enabled` | `true` | Removes. Accepted: true or false, yes or no, on or off, 1 or 0. |',
    '| `mode` | `EXAMPLE_MODE` | `--mode` | `safe` | How. Accepted: one of fast, safe. |',
    '| `db.store.path` | `DB_STORE_PATH` | `--db-store-path` | `~/.example` | Where. Accepted: a path. |',
    '| `db.keyring_secret` | `DB_KEYRING_SECRET` `DB_KEYRING_SECRET_FILE` | `--db-keyring-secret-file` | required | Opens the keys. Accepted: any text that is not empty. |',
    '| `note` | `EXAMPLE_NOTE` | `--note` | none | A \\| note. Accepted: any text. |',
  ])
})
