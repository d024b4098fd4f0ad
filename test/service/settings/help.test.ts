import assert from 'node:assert/strict'
import { test } from 'node:test'
import { helpText } from '../../../src/service/settings/help.ts'
import { integerBetween, secretText } from '../../../src/service/settings/setting-kinds.ts'

test('the help of a command has a line for each flag: meaning, values, unit, names and default', () => {
  const table = {
    keep: {
      key: 'pruner.max_blocks',
      env: 'PRUNER_MAX_BLOCKS',
      kind: integerBetween(1),
      unit: 'blocks',
      default: 7,
      doc: 'How many stay.',
    },
    threads: { key: 'threads', env: 'THREADS', kind: integerBetween(1), doc: 'How many.' },
    secret: {
      key: 'secret',
      env: 'SECRET',
      kind: secretText,
      required: true,
      secret: true,
      doc: 'Opens the keys.',
    },
  } as const
  const text = helpText({ command: 'example run', summary: 'Runs it.', width: 200 }, table)
  assert.deepEqual(
    text.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' | ')),
    [
      'Usage: example run [options]',
      '',
      'Runs it.',
      '',
      'Options:',
      '--config <file> | YAML file; the environment overrides it, flags override both',
      '--pruner-max-blocks <value> | How many stay. Accepted: a whole number of 1 or more, in blocks. (PRUNER_MAX_BLOCKS; default: 7)',
      '--threads <value> | How many. Accepted: a whole number of 1 or more. (THREADS; default: none)',
      '--secret-file <file> | Opens the keys. Accepted: any text that is not empty. (SECRET or SECRET_FILE; default: required)',
      '-h, --help | display help for command',
      '',
    ],
  )
})
