import { closeSync, writeSync } from 'node:fs'
import { systemClock } from '../../../../base/clock.ts'
import { ShimServer } from './server.ts'

// node shim.mjs SOCKET: holds containers until there are none. Whoever started it may be gone: it has its own session, and nothing it needs is theirs.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGPIPE'] as const) process.on(signal, () => {})
const socketPath = process.argv[2]!
process.title = `coxswain-shim ${socketPath}`
const server = new ShimServer(socketPath, systemClock)
process.on('SIGTERM', () => server.endIfIdle())
const isOurs = await server.listen()
try {
  writeSync(3, 'ready\n')
  closeSync(3)
} catch {
  // Whoever started it is gone already; another one will find it.
}
if (!isOurs) process.exit(0)
