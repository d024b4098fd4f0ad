import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkModule } from '../../src/lens/module-check.ts'
import { buildModule, next, sized } from './support/module.ts'

const wasi = [...sized('wasi_snapshot_preview1'), ...sized('fd_write'), 0x00, 0x00]

test('a module of other imports or memories is refused with those that a lens has', () => {
  for (const wrong of [
    { imports: [wasi] },
    { imports: null },
    { imports: [next, next] },
    { memories: null },
    {
      memories: [
        [0, 1],
        [0, 1],
      ],
    },
  ])
    assert.throws(() => checkModule(buildModule(wrong)), {
      code: 'LENS_MODULE_REFUSED',
      remedy: /A lens imports the function lens\.next alone, .* viewmesh lens new makes/,
    })
})
