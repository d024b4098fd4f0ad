/** Commands of `viewmesh` on all pages: each is one that the program takes, also in blocks that no test runs. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { repository } from '../support/repository.ts'
import { blocksOf } from './support/page.ts'
import { shellCommands } from './support/shell-commands.ts'
import { viewmeshArguments, viewmeshComplaints } from './support/viewmesh-complaints.ts'

const docs = readdirSync(`${repository}/docs`, { recursive: true, encoding: 'utf8' })
const pages = ['README.md', 'CONTRIBUTING.md', ...docs.map((path) => `docs/${path}`)]

interface ShownCommand {
  readonly page: string
  readonly argv: readonly string[]
  readonly isRun: boolean
}

const shown: readonly ShownCommand[] = pages
  .filter((path) => path.endsWith('.md'))
  .flatMap((page) =>
    blocksOf(page)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text, marker }) => {
        const isRun = marker?.startsWith('run:') === true
        return argumentsIn(text).map((argv) => ({ page, argv, isRun }))
      }),
  )

/** The arguments of each `viewmesh` and `npx viewmesh` of a block. */
function argumentsIn(block: string): (readonly string[])[] {
  return shellCommands(block)
    .map(viewmeshArguments)
    .filter((argv) => argv !== null)
}

/** It belongs to neither a program nor the toolkit. */
const isVerify = ({ argv: [name] }: ShownCommand): boolean => name === 'verify'

for (const [page, commands] of Map.groupBy(shown, (command) => command.page)) {
  test(`${page}: every viewmesh command has arguments and flags that it takes`, async () => {
    for (const { argv } of commands.filter((command) => !isVerify(command))) {
      assert.deepEqual(await viewmeshComplaints(argv), [], `viewmesh ${argv.join(' ')}`)
    }
  })
}

test('every block with viewmesh verify is run', () => {
  const found = shown.filter(isVerify)
  assert.ok(found.length > 0)
  assert.deepEqual(
    found.filter(({ isRun }) => !isRun),
    [],
  )
})

test('the pages show commands of every group, some of which no test runs', () => {
  const names = new Set(shown.map(({ argv: [name] }) => name))
  const expected = [
    'view',
    'lens',
    'wallet',
    'register',
    'types',
    'doctor',
    'generator',
    'host',
    'verify',
  ]
  assert.deepEqual([...names].toSorted(), expected.toSorted())
  assert.ok(shown.some(({ isRun }) => !isRun))
})

test('a command is found behind settings, keywords and redirections', () => {
  const block = [
    'NODE=1 npx viewmesh host --x y',
    "until viewmesh view status P --json | jq '.a' > b; do sleep 1; done",
    'viewmesh view rollback P 2>&1 | head -1',
    'viewmesh view delete P 2> log.txt',
    'npm start',
  ].join('\n')
  assert.deepEqual(
    argumentsIn(block).map((argv) => argv.join(' ')),
    ['host --x y', 'view status P --json', 'view rollback P', 'view delete P'],
  )
})

const refused: readonly (readonly [command: string, complaint: RegExp])[] = [
  ['view explode P', /unknown command 'explode'/],
  ['view deploy P --target local --everywhere', /unknown option '--everywhere'/],
  ['view deploy --target local', /missing required argument 'view-name'/],
  ['view list P', /too many arguments/],
  ['lens new x --language cobol', /argument 'cobol' is invalid/],
  ['wallet inspect --private-key 1', /unknown option '--private-key'/],
  ['register', /required option '--rpc/],
  ['conquer', /unknown command 'conquer'/],
  ['host --api-adr :1', /--api-adr is not a flag of this command/],
]

for (const [command, complaint] of refused) {
  test(`viewmesh ${command} would be refused on a page`, async () => {
    assert.match((await viewmeshComplaints(command.split(' '))).join('\n'), complaint)
  })
}
