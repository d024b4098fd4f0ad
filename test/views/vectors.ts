/** Two Views with their bytes and IDs, as the registry chain's own library makes and reads them. */
import type { View } from '../../src/views/view.ts'

interface Vector {
  readonly view: View
  readonly wire: string
  readonly sender: string
  readonly id: string
  readonly address: string
}

const sender = `0x${'11'.repeat(20)}`
const wasm = Buffer.from('0061736d01000000', 'hex')

/** No lens. */
export const first: Vector = {
  view: {
    query: 'Log { address }',
    sdl: 'type V @materialized(if: false) { x: String }',
    lenses: [],
  },
  wire: '56574c010f0000004c6f67207b2061646472657373207d2d00000074797065205620406d6174657269616c697a65642869663a2066616c736529207b20783a20537472696e67207d000000020000000000',
  sender,
  id: '0x662939c2f41defcea4112f46d79a5c7c19da5a627adb10767e5727215f312113',
  address: '0xcB1FC5411b7A771e56c9279f24ce09B897313066',
}

/** Two lenses, one of them with arguments. */
export const second: Vector = {
  view: {
    query: 'Log { address topics }',
    sdl: 'type DecodedLog @materialized(if: false) { address: String }',
    lenses: [
      { args: '{"src":"address","value":"0xabc"}', wasm },
      { args: '', wasm },
    ],
  },
  wire: '56574c01160000004c6f67207b206164647265737320746f70696373207d3c00000074797065204465636f6465644c6f6720406d6174657269616c697a65642869663a2066616c736529207b20616464726573733a20537472696e67207d020001000000210000007b22737263223a2261646472657373222c2276616c7565223a223078616263227d0200000000000000001a0000000200080000000061736d01000000080000000061736d01000000',
  sender,
  id: '0xffd435e46c0b224011e4e38ab08b0e037ea133b0eb49020cfe62458804a039b6',
  address: '0x2BA13BbD58E24169f8F40C7fF12f1F2a6c445724',
}
