/** What README shows of proofs, as a reader would try it. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { verifyCommand } from '../../src/toolkit/verify-command.ts'
import { proofSelection } from '../../src/verify/proof.ts'
import { readProofs } from '../support/readme-proofs.ts'

const { selection, question, answer, command, output } = readProofs()

test('it asks for what a proof takes', () => {
  assert.equal(selection, proofSelection)
  assert.ok(question.includes(proofSelection))
})

test('its command says of its answer what it shows', async () => {
  const [, identity = ''] =
    /^npx viewmesh verify answer\.json --identity (\w+)$/.exec(command) ?? []
  const stdin = Readable.from([Buffer.from(answer)])
  assert.deepEqual(await verifyCommand('-', { identity: [identity], minimum: 1 }, stdin), {
    exitCode: 0,
    stdout: `${output}\n`,
    stderr: '',
  })
})
