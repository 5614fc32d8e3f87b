/** The host of a URL by which an address is reached that was listened on. One that says "everywhere" is no address to connect to. */
export const reachable = (address: string): string =>
  address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address

/** True if an address is reached from this machine alone. */
export const isLoopback = (address: string): boolean => address === 'localhost' || address === '::1' || address.startsWith('127.')
