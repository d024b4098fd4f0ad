/** What the registry chain offers to contracts and wallets for Views: the precompile at 0x0210. */

/** Where it is. `eth_getCode` has nothing there. */
export const registryAddress = '0x0000000000000000000000000000000000000210'

/** Its functions and its one event. */
export const registryAbi = [
  {
    type: 'function',
    name: 'register',
    stateMutability: 'nonpayable',
    inputs: [{ name: 'data', type: 'bytes' }],
    outputs: [
      { name: 'viewAddress', type: 'address' },
      { name: 'name', type: 'string' },
    ],
  },
  {
    type: 'function',
    name: 'getView',
    stateMutability: 'view',
    inputs: [{ name: 'viewAddress', type: 'address' }],
    outputs: [
      {
        name: '',
        type: 'tuple',
        components: [
          { name: 'viewAddress', type: 'address' },
          { name: 'name', type: 'string' },
          { name: 'creator', type: 'string' },
          { name: 'height', type: 'uint64' },
          { name: 'status', type: 'uint8' },
        ],
      },
    ],
  },
  {
    type: 'event',
    name: 'ViewCreated',
    inputs: [
      { name: 'viewAddress', type: 'address', indexed: true },
      { name: 'creator', type: 'address', indexed: true },
      { name: 'name', type: 'string', indexed: false },
    ],
  },
] as const
