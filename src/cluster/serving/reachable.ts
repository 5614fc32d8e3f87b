import { networkInterfaces } from 'node:os'

/**
 * The host of a URL by which an address is reached that was listened on. One that says "everywhere" is no address to
 * connect to.
 */
export const reachable = (address: string): string =>
  address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address

/** True if an address is reached from this machine alone. */
export const isLoopback = (address: string): boolean =>
  address === 'localhost' || address === '::1' || address.startsWith('127.')

/**
 * The address by which other machines reach what listens on `address`: the first of this machine, where it listens on
 * all.
 */
export function addressFromElsewhere(address: string): string {
  if (address !== '0.0.0.0' && address !== '::') return address
  const family = address === '::' ? 'IPv6' : 'IPv4'
  const all = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  return all.find((found) => !found.internal && found.family === family)?.address ?? address
}
