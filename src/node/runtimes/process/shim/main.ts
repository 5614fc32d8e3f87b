import { closeSync, writeSync } from 'node:fs'
import { systemClock } from '../../../../base/clock.ts'
import { ShimServer } from './server.ts'

// node shim.mjs SOCKET: holds containers until there are none. Whoever started it may be gone: it has its own session, and nothing it needs is theirs.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGPIPE'] as const) process.on(signal, () => {})
process.title = 'coxswain-shim'
const server = new ShimServer(process.argv[2]!, systemClock)
process.on('SIGTERM', () => server.endIfIdle())
await server.listen()
writeSync(3, 'ready\n')
closeSync(3)
