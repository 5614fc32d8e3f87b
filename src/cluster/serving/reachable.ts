import { networkInterfaces } from 'node:os'

/** The host in a URL for a listening address. A wildcard address is replaced, because it cannot be connected to. */
export const reachable = (address: string): string =>
  address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address

/** True if an address can be reached from this machine only. */
export const isLoopback = (address: string): boolean =>
  address === 'localhost' || address === '::1' || address.startsWith('127.')

/**
 * The address at which other machines reach a server that listens on `address`. For a wildcard address it is the first
 * address of this machine.
 */
export function addressFromElsewhere(address: string): string {
  if (address !== '0.0.0.0' && address !== '::') return address
  const family = address === '::' ? 'IPv6' : 'IPv4'
  const all = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  return all.find((found) => !found.internal && found.family === family)?.address ?? address
}
