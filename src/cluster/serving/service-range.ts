import { createHash } from 'node:crypto'
import { createSocket } from 'node:dgram'
import path from 'node:path'
import { addressAt, cidrContains, parseCidr, parseIp } from '../../api/validation/ip.ts'

/** The DNS settings of a cluster in this process. */
export interface DnsFlags {
  /** --cluster-dns: false if no DNS server for the cluster runs. */
  isServed: boolean
  /** --cluster-domain */
  domain: string
  /** --resolv-conf */
  resolvConf: string
}

export const defaultDns: DnsFlags = { isServed: true, domain: 'cluster.local', resolvConf: '/etc/resolv.conf' }

const loopback = parseCidr('127.0.0.0/8')!

export const defaultRange = '10.0.0.0/24'

/** The offset of the DNS server's address in the range of cluster IPs, as in kubeadm. */
const dnsNumber = 10

/** The address of the cluster's DNS server. */
export const dnsAddressOf = (range: string): string => addressAt(range, dnsNumber)

/** True for a range of addresses that never leave this machine. */
export function isLoopbackRange(range: string): boolean {
  const cidr = parseCidr(range)
  return cidr !== undefined && cidr.prefix >= loopback.prefix && cidrContains(loopback, parseIp(addressAt(range, 0))!)
}

/** The required location of cluster IPs: on the loopback interface, outside of it, or unchanged. */
export type RangePlace = 'loopback' | 'routed' | 'any'

export interface RangeChoice {
  /** --service-cluster-ip-range */
  given: string | undefined
  place: RangePlace
  dataDir: string
  /** True if other servers share the cluster. Then its range is not changed because of this server's own pods. */
  isShared?: boolean
}

/**
 * Chooses the range of cluster IPs of a cluster that has `stored`. The stored range is kept unless the flags require
 * another.
 */
export async function chooseServiceRange(
  { given, place, dataDir, isShared = false }: RangeChoice,
  stored: string | undefined,
): Promise<string | undefined> {
  if (given !== undefined) return given
  if (
    place === 'any' ||
    (isShared && stored !== undefined) ||
    (stored !== undefined && isLoopbackRange(stored) === (place === 'loopback'))
  )
    return stored
  return place === 'loopback' ? loopbackRangeFor(dataDir) : defaultRange
}

const blocksInRow = 16
const rows = 127

/**
 * A block of 4096 addresses, chosen by the data directory. Pods that are processes have addresses below 127.128, blocks
 * are above.
 */
export function loopbackBlock(dataDir: string, attempt: number): string {
  const hash = createHash('sha256').update(path.resolve(dataDir)).digest().readUInt32BE(0)
  const block = (hash + attempt) % (rows * blocksInRow)
  return `127.${128 + Math.floor(block / blocksInRow)}.${(block % blocksInRow) * 16}.0/20`
}

const mostAttempts = 16

/** The first block in which no DNS server of another cluster on this machine responds. */
async function loopbackRangeFor(dataDir: string): Promise<string> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const range = loopbackBlock(dataDir, attempt)
    if (!(await isTaken(dnsAddressOf(range)))) return range
  }
  return loopbackBlock(dataDir, 0)
}

const dnsPort = 53

/** False also if this user may not open the port, because no other cluster of this user can have it then. */
function isTaken(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close()
      resolve(error.code === 'EADDRINUSE')
    })
    socket.bind(dnsPort, address, () => socket.close(() => resolve(false)))
  })
}
