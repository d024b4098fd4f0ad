/** What the rows have to be: the token's transfers as viem reads them from the node, which shares nothing with the programs. */
import { createPublicClient, http, parseAbiItem } from 'viem'

export interface Transfer {
  readonly hash: string
  readonly from: string
  readonly to: string
  readonly amount: string
  readonly blockNumber: number
}

const event = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
)

/** All of them, in the order of the chain. */
export async function readTrueTransfers(
  url: string,
  token: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Transfer[]> {
  const client = createPublicClient({ transport: http(url) })
  const logs = await client.getLogs({
    address: token as `0x${string}`,
    event,
    fromBlock: BigInt(from),
    toBlock: BigInt(to),
    strict: true,
  })
  return logs.map(({ transactionHash, args, blockNumber }) => ({
    hash: transactionHash,
    from: args.from.toLowerCase(),
    to: args.to.toLowerCase(),
    amount: `${args.value}`,
    blockNumber: Number(blockNumber),
  }))
}
