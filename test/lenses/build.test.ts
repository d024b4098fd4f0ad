import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkModule } from '../../src/lens/module-check.ts'
import { compileLens, lensNames } from '../../src/lenses/build.ts'
import { readLens } from './support/fed-lens.ts'

for (const name of lensNames) {
  test(`${name}.wasm is what its source gives, byte for byte`, async () => {
    assert.deepEqual(Buffer.from(await compileLens(name)), Buffer.from(readLens(name)))
  })

  test(`${name} is accepted as a lens`, () => {
    assert.ok(WebAssembly.validate(checkModule(readLens(name))))
  })
}

test('a source that does not compile is refused with what the compiler says', async () => {
  await assert.rejects(
    compileLens('no_such_lens'),
    /no-such-lens\.ts does not compile:\n.*not found/s,
  )
})
