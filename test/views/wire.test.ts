import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { createZstdCompress, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { ServiceError } from '../../src/errors.ts'
import { type View, viewLimits } from '../../src/views/view.ts'
import { decodeView, encodeView } from '../../src/views/wire.ts'
import { first, second } from './vectors.ts'

const small: View = { query: 'Log { data }', sdl: 'type V { data: String }', lenses: [] }
const emptyModule = Buffer.from('0061736d01000000', 'hex')

/** The wire bytes of a View without lenses whose blob is another one. */
function withBlob(codec: number, blob: Uint8Array, lenses = 0): Buffer {
  const wire = encodeView({ ...small, lenses: [] }, 'none')
  const head = Buffer.from(wire.subarray(0, wire.length - 9))
  const count = Buffer.from([lenses, 0])
  const args = Array.from({ length: lenses }, (_, index) =>
    Buffer.from([index + 1, 0, 0, 0, 0, 0, 0, 0]),
  )
  const size = Buffer.alloc(4)
  size.writeUInt32LE(blob.length)
  return Buffer.concat([head, count, ...args, Buffer.from([codec]), size, blob])
}

/** The wire bytes of a View of any size; its blob has no module. */
function wireOf({ query, sdl, lenses }: View): Buffer {
  const sizes = (value: number, bytes: number): Buffer => {
    const size = Buffer.alloc(bytes)
    size.writeUIntLE(value, 0, bytes)
    return size
  }
  const sized = (text: string): Buffer =>
    Buffer.concat([sizes(Buffer.byteLength(text), 4), Buffer.from(text)])
  return Buffer.concat([
    Buffer.from('VWL\u0001'),
    ...[sized(query), sized(sdl), sizes(lenses.length, 2)],
    ...lenses.flatMap(({ args }, index) => [sizes(index + 1, 4), sized(args)]),
    Buffer.from([0, 2, 0, 0, 0, 0, 0]),
  ])
}

function* megabytes(count: number): Generator<Buffer> {
  const zeros = Buffer.alloc(1024 * 1024)
  for (let index = 0; index < count; index += 1) yield zeros
}

const isRefused = (code: string) => (error: unknown) =>
  error instanceof ServiceError && error.code === code && error.remedy !== undefined

test('the bytes of both published vectors are made and read', () => {
  for (const { view, wire } of [first, second]) {
    assert.equal(Buffer.from(encodeView(view, 'none')).toString('hex'), wire)
    assert.deepEqual(plain(decodeView(Buffer.from(wire, 'hex'))), plain(view))
  }
})

/** With modules as text, whatever kind of array holds them. */
function plain({ query, sdl, lenses }: View): object {
  return {
    query,
    sdl,
    lenses: lenses.map(({ args, wasm }) => [args, Buffer.from(wasm).toString('hex')]),
  }
}

test('a text that begins with a byte order mark keeps it', () => {
  const view = { ...small, query: `\ufeff${small.query}` }
  assert.deepEqual(decodeView(encodeView(view)), view)
})

test('whatever View is within the limits comes back as it was, compressed or not', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60, size: 'max' })
  const views = fc.record({
    query: text,
    sdl: text,
    lenses: fc.array(
      fc.record({ args: text, wasm: fc.uint8Array({ maxLength: 80, size: 'max' }) }),
      {
        maxLength: 5,
      },
    ),
  })
  fc.assert(
    fc.property(views, fc.constantFrom('none' as const, 'zstd' as const), (view, codec) => {
      assert.deepEqual(plain(decodeView(encodeView(view, codec))), plain(view))
    }),
    { numRuns: 500 },
  )
})

describe('bytes that are no View', () => {
  test('are refused wherever they end too early, and where a byte follows', () => {
    const wire = encodeView(second.view)
    for (let length = 0; length < wire.length; length += 1)
      assert.throws(() => decodeView(wire.subarray(0, length)), isRefused('VIEWS_WIRE_MALFORMED'))
    assert.throws(() => decodeView(Buffer.concat([wire, Buffer.alloc(1)])), {
      code: 'VIEWS_WIRE_MALFORMED',
      message: 'these are not wire bytes of a View: 1 bytes follow the last field',
    })
  })

  test('are refused by the name of the field within which they end', () => {
    const wire = withBlob(0, Buffer.of(2, 0), 2)
    const fields = [
      ...['the lenses', 'the codec', 'the arguments of lens 2', 'the number of lens 2'],
      ...['the arguments of lens 1', 'the number of lens 1', 'the number of lenses', 'the SDL'],
      ...['the query', 'the version', 'the magic'],
    ]
    const named = Array.from({ length: wire.length }, (_, left) => {
      try {
        decodeView(wire.subarray(0, wire.length - 1 - left))
      } catch (error) {
        return /they end within (.*)$/.exec((error as Error).message)?.[1]
      }
      return assert.fail('it is accepted')
    })
    assert.deepEqual([...new Set(named)], fields)
  })

  test('never end in anything but a refusal, whatever they are', () => {
    const wire = encodeView(second.view)
    const changed = fc
      .array(fc.tuple(fc.nat(wire.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
      .map((changes) => {
        const bytes = Buffer.from(wire)
        for (const [place, value] of changes) bytes[place] = value
        return bytes
      })
    const anything = fc.oneof(changed, fc.uint8Array({ maxLength: 300, size: 'max' }))
    fc.assert(
      fc.property(anything, (bytes) => {
        try {
          decodeView(bytes)
        } catch (error) {
          assert.ok(error instanceof ServiceError && error.code.startsWith('VIEWS_'), String(error))
        }
      }),
      { numRuns: 5_000 },
    )
  })

  const frame = zstdCompressSync(Buffer.alloc(2))
  const cases: readonly [string, Uint8Array, RegExp][] = [
    ['another magic', Buffer.from('56574d01', 'hex'), /they do not begin with VWL$/],
    ['another version', Buffer.from('56574c02', 'hex'), /version 2 is not known, only 1$/],
    ['an unknown codec', withBlob(2, Buffer.alloc(2)), /codec 2 is not known$/],
    [
      'fewer modules than lenses',
      withBlob(0, Buffer.alloc(2), 1),
      /there are 1 lenses and 0 modules$/,
    ],
    [
      'more modules than lenses',
      withBlob(0, Buffer.from([1, 0, 0, 0, 0, 0])),
      /there are 0 lenses and 1 modules$/,
    ],
    [
      'a byte after the last module',
      withBlob(0, Buffer.alloc(3)),
      /1 bytes follow the last field$/,
    ],
    [
      'a second frame',
      withBlob(1, Buffer.concat([frame, frame])),
      /bytes follow the compressed lenses$/,
    ],
    [
      'a byte after the frame',
      withBlob(1, Buffer.concat([frame, Buffer.alloc(1)])),
      /1 bytes follow the compressed lenses$/,
    ],
    [
      'a module cut short',
      withBlob(0, Buffer.from([2, 0, 0, 0, 0, 0, 1, 0, 0, 0]), 2),
      /they end within module 2$/,
    ],
    [
      'a frame cut short',
      withBlob(1, frame.subarray(0, -1)),
      /the lenses cannot be decompressed: /,
    ],
    [
      'a blob that is no Zstandard',
      withBlob(1, Buffer.from('none')),
      /the lenses cannot be decompressed: /,
    ],
  ]
  for (const [what, bytes, message] of cases) {
    test(`are refused with what is wrong: ${what}`, () => {
      assert.throws(() => decodeView(bytes), { code: 'VIEWS_WIRE_MALFORMED', message })
    })
  }

  test('are refused where a text is not UTF-8', () => {
    const wire = Buffer.from(first.wire, 'hex')
    wire[8] = 0xff
    assert.throws(() => decodeView(wire), { message: /the query is not UTF-8$/ })
  })

  test('are refused where the lenses are not numbered from one on', () => {
    const wire = Buffer.from(second.wire, 'hex')
    wire.writeUInt32LE(2, wire.indexOf('0200010000', 0, 'hex') + 2)
    assert.throws(() => decodeView(wire), { message: /lens 1 has the number 2$/ })
  })
})

describe('the limits of the registry chain', () => {
  const lens = { args: '', wasm: emptyModule }
  const atLimit: readonly [string, View, View, string][] = [
    [
      'a query of 8,192 bytes',
      { ...small, query: 'q'.repeat(viewLimits.query) },
      { ...small, query: `${'q'.repeat(viewLimits.query - 1)}ä` },
      'the query has 8193 bytes, and 8192 are accepted',
    ],
    [
      'an SDL of 8,192 bytes',
      { ...small, sdl: 's'.repeat(viewLimits.sdl) },
      { ...small, sdl: 's'.repeat(viewLimits.sdl + 1) },
      'the SDL has 8193 bytes, and 8192 are accepted',
    ],
    [
      'arguments of 65,536 bytes',
      { ...small, lenses: [{ ...lens, args: 'a'.repeat(viewLimits.args) }] },
      { ...small, lenses: [lens, { ...lens, args: 'a'.repeat(viewLimits.args + 1) }] },
      'the arguments of lens 2 has 65537 bytes, and 65536 are accepted',
    ],
    [
      '256 lenses',
      { ...small, lenses: Array.from({ length: viewLimits.lenses }, () => lens) },
      { ...small, lenses: Array.from({ length: viewLimits.lenses + 1 }, () => lens) },
      'these are not wire bytes of a View: 257 lenses are more than 256',
    ],
    [
      'modules of 10 MiB with their lengths',
      { ...small, lenses: [{ args: '', wasm: Buffer.alloc(viewLimits.blob - 6) }] },
      { ...small, lenses: [{ args: '', wasm: Buffer.alloc(viewLimits.blob - 5) }] },
      'the lenses has 10485761 bytes, and 10485760 are accepted',
    ],
  ]
  for (const [what, accepted, refused, message] of atLimit) {
    test(`${what} are accepted, and one more refused`, () => {
      assert.deepEqual(plain(decodeView(encodeView(accepted))), plain(accepted))
      assert.throws(() => encodeView(refused), { message })
    })
  }

  test('hold for bytes that somebody else made as well', () => {
    for (const [, , refused, message] of atLimit.slice(0, -1))
      assert.throws(() => decodeView(wireOf(refused)), { message })
    const zipped = zstdCompressSync(Buffer.alloc(viewLimits.blob + 1))
    assert.throws(() => decodeView(withBlob(1, zipped)), {
      message: 'the decompressed lenses has 10485761 bytes, and 10485760 are accepted',
    })
  })

  test('393,216 bytes in all are accepted, and one more refused', () => {
    const view = (bytes: number): View => ({
      ...small,
      lenses: [{ args: '', wasm: Buffer.alloc(bytes) }],
    })
    const others = encodeView(view(0), 'none').length
    const most = encodeView(view(viewLimits.wire - others), 'none')
    assert.equal(most.length, viewLimits.wire)
    assert.equal(decodeView(most).lenses[0]?.wasm.length, viewLimits.wire - others)
    assert.throws(
      () => encodeView(view(viewLimits.wire - others + 1), 'none'),
      isRefused('VIEWS_TOO_LARGE'),
    )
    assert.throws(
      () => decodeView(Buffer.concat([most, Buffer.alloc(1)])),
      isRefused('VIEWS_TOO_LARGE'),
    )
  })

  test('a length beyond what is there is refused before anything is held', () => {
    const wire = Buffer.from(first.wire, 'hex')
    wire.writeUInt32LE(0xffff_ffff, 4)
    assert.throws(() => decodeView(wire), isRefused('VIEWS_TOO_LARGE'))
  })
})

describe('blobs that unpack to far more than they are', () => {
  test('are refused at the limit, without the memory that they ask for', async () => {
    const zeros = Readable.from(megabytes(400))
    const bomb = await buffer(zeros.pipe(createZstdCompress()))
    assert.ok(bomb.length < viewLimits.wire)
    const before = process.resourceUsage().maxRSS
    assert.throws(() => decodeView(withBlob(1, bomb)), isRefused('VIEWS_TOO_LARGE'))
    const grownKiB = process.resourceUsage().maxRSS - before
    assert.ok(grownKiB < 64 * 1024, `${grownKiB} KiB more`)
  })

  test('are refused where a frame asks for a window of 512 MiB', () => {
    // Magic, a frame header without a content size, and a window descriptor of exponent 19 (RFC 8878, 3.1.1.1.2).
    const frame = Buffer.from('28b52ffd0098010000', 'hex')
    assert.throws(() => decodeView(withBlob(1, frame)), {
      message: /cannot be decompressed: .*memory/,
    })
  })
})
