import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'

type Interfaces = Readonly<
  Record<string, readonly { address: string; family: string; internal: boolean }[] | undefined>
>

/** The interface of the default route in a table such as /proc/net/route. Undefined without a default route. */
const defaultInterface = (routes: string): string | undefined =>
  routes
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
    .find(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000')?.[0]

/** The address of this machine: that of the default route's interface, else any external one, else loopback. */
export function hostAddress(routes = readRoutes(), interfaces: Interfaces = networkInterfaces()): string {
  const preferred = interfaces[defaultInterface(routes) ?? ''] ?? []
  const all = [...preferred, ...Object.values(interfaces).flatMap((addresses) => addresses ?? [])]
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
}

function readRoutes(): string {
  try {
    return readFileSync('/proc/net/route', 'latin1')
  } catch {
    return ''
  }
}
