/** Who can reach a multiaddr, as far as its text says. */
import { BlockList, isIP } from 'node:net'

/** `nobody` but the machine itself, or its link; `private` networks; or, as far as the text says, anybody. */
type AddressReach = 'public' | 'private' | 'nobody'

/** Loopback, unspecified, link-local, multicast and reserved addresses. */
const reachNobody = blockList({
  ipv4: ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3'],
  ipv6: ['::/127', 'fe80::/10', 'ff00::/8'],
})
/** Also those of carriers between their customers. */
const reachPrivate = blockList({
  ipv4: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'],
  ipv6: ['fc00::/7'],
})

/** What is no address of a peer is reached by nobody. Names are not resolved. */
export function reachOf(multiaddr: string): AddressReach {
  const [, kind = '', host = ''] = /^\/([a-z0-9]+)\/([^/]+)\//.exec(`${multiaddr}/`) ?? []
  if (/^dns(?:4|6|addr)?$/.test(kind)) return reachOfName(host.toLowerCase().replace(/\.$/, ''))
  const family = isIP(host)
  if (family === 0 || kind !== `ip${family}`) return 'nobody'
  if (reachNobody.check(host, `ipv${family}` as 'ipv4')) return 'nobody'
  return reachPrivate.check(host, `ipv${family}` as 'ipv4') ? 'private' : 'public'
}

/** The address to give to others: the first public one, else the first private one; undefined without either. */
export function bestAddress(multiaddrs: readonly string[]): string | undefined {
  const first = (wanted: AddressReach): string | undefined =>
    multiaddrs.find((address) => reachOf(address) === wanted)
  return first('public') ?? first('private')
}

function reachOfName(name: string): AddressReach {
  if (/(?:^|\.)localhost$/.test(name)) return 'nobody'
  return /\./.test(name) && !/\.(?:local|internal)$/.test(name) ? 'public' : 'private'
}

function blockList(networks: Readonly<Record<'ipv4' | 'ipv6', readonly string[]>>): BlockList {
  const list = new BlockList()
  for (const family of ['ipv4', 'ipv6'] as const)
    for (const network of networks[family]) {
      const [address = '', bits] = network.split('/')
      list.addSubnet(address, Number(bits), family)
    }
  return list
}
