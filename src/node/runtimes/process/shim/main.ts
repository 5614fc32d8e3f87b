import { closeSync, writeSync } from 'node:fs'
import path from 'node:path'
import { systemClock } from '../../../../base/clock.ts'
import { ShimServer } from './server.ts'

// node DIRECTORY/shim.mjs SOCKET: holds containers until there are none. It has its own session and depends on nothing
// of the process that started it, which may end.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGPIPE'] as const) process.on(signal, () => {})
const [program, socketPath] = process.argv.slice(1) as [string, string]
process.title = `coxswain-shim ${socketPath}`
const server = new ShimServer(socketPath, systemClock)
process.on('SIGTERM', () => server.endIfIdle())
const isOurs = await server.listen()
try {
  writeSync(3, 'ready\n')
  closeSync(3)
} catch {
  // The process that started it has ended already. Another agent will connect.
}
if (!isOurs) process.exit(0)
// The last resort: the end of the shim would end all pods of the node. Errors that are expected are handled elsewhere.
process.on('uncaughtException', (error) => {
  try {
    writeSync(2, `${new Date().toISOString()} ${error.stack ?? error.message}\n`)
  } catch {
    // The log is on a full disk.
  }
})
server.endWith(path.dirname(program))
