import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs'
import { type Socket, connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { RuntimeError } from '../../runtime/runtime.ts'
import { type Answer, type Ended, type Request, protocolVersion } from './shim/protocol.ts'

/** The maximum length of a socket path. Kernels cut off longer ones. */
const longestSocketPath = 100

/** A shim, or the connection to it, ended before it responded. */
class NoAnswer extends Error {}

/** Sends requests to the shim of a runtime directory, and starts it if necessary. */
export class ShimClient {
  readonly #directory: string
  readonly #program: string
  readonly #socketPath: string
  readonly #ended: (containerId: string) => void
  readonly #lost: () => void
  #starting: Promise<void> | undefined
  #watch: Socket | undefined

  /** `ended` is called for each container that ends, `lost` when the shim is gone. */
  constructor(directory: string, ended: (containerId: string) => void, lost: () => void) {
    this.#directory = directory
    this.#program = path.join(directory, 'shim.mjs')
    this.#ended = ended
    this.#lost = lost
    const socketPath = path.join(directory, 'shim.sock')
    this.#socketPath = socketPath.length <= longestSocketPath ? socketPath : shortSocketPath(directory)
  }

  /** Copies the shim's program, because the original may be rebuilt or removed before it is needed. */
  install(from: string): void {
    copyFileSync(from, `${this.#program}.new`)
    renameSync(`${this.#program}.new`, this.#program)
  }

  /** Connects to a running shim. Resolves with false if there is none. */
  async join(): Promise<boolean> {
    if (!existsSync(this.#socketPath)) return false
    try {
      await this.#startWatching()
      return true
    } catch (e) {
      if (e instanceof RuntimeError) throw e
      return false
    }
  }

  get isConnected(): boolean {
    return this.#watch !== undefined && !this.#watch.destroyed
  }

  /** Starts a shim unless one runs. */
  async ensure(): Promise<void> {
    if (this.isConnected) return
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined))
    return this.#starting
  }

  /**
   * Sends a request, and repeats it once if the shim was about to exit. Resolves with the connection, on which more
   * data may follow.
   */
  async ask(request: Request): Promise<Socket> {
    for (let tries = 0; ; tries++) {
      await this.ensure()
      try {
        return await this.#askOnce(request)
      } catch (e) {
        if (e instanceof RuntimeError || tries > 0) throw e
        this.#watch?.destroy()
      }
    }
  }

  /** Sends a request whose response has no further data. */
  async tell(request: Request): Promise<void> {
    const socket = await this.ask(request)
    socket.destroy()
  }

  close(): void {
    const watch = this.#watch
    this.#watch = undefined
    watch?.destroy()
  }

  async #start(): Promise<void> {
    if (await this.join()) return
    const log = openSync(path.join(this.#directory, 'shim.log'), 'a', 0o600)
    try {
      const child = spawn(process.execPath, ['--max-semi-space-size=1', this.#program, this.#socketPath], {
        cwd: '/',
        detached: true,
        stdio: ['ignore', log, log, 'pipe'],
      })
      await new Promise<void>((resolve, reject) => {
        child.once('error', reject)
        child.once('exit', (code) =>
          reject(
            new RuntimeError(
              'Unavailable',
              `the shim ended with ${code} when it was to start: see ${this.#directory}/shim.log`,
            ),
          ),
        )
        const ready = child.stdio[3] as Readable
        ready.once('data', () => {
          ready.destroy()
          resolve()
        })
      })
      child.removeAllListeners()
      child.unref()
    } finally {
      closeSync(log)
    }
    await this.#startWatching()
  }

  async #startWatching(): Promise<void> {
    const socket = await this.#askOnce({ op: 'watch' })
    this.#watch = socket
    let text = ''
    socket.on('data', (piece: Buffer) => {
      const lines = (text + piece.toString()).split('\n')
      text = lines.pop()!
      for (const line of lines) this.#ended((JSON.parse(line) as Ended).ended)
    })
    socket.on('close', () => {
      if (this.#watch !== socket) return
      this.#watch = undefined
      this.#lost()
    })
    socket.resume()
    socket.unref()
  }

  #askOnce(request: Request): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#socketPath)
      let head = Buffer.alloc(0)
      const read = (piece: Buffer) => {
        head = Buffer.concat([head, piece])
        const end = head.indexOf(0x0a)
        if (end === -1) return
        socket.off('data', read).pause()
        const rest = head.subarray(end + 1)
        if (rest.length > 0) socket.unshift(rest)
        const answer = JSON.parse(head.subarray(0, end).toString()) as Answer
        if (!answer.ok) reject(new RuntimeError('Unknown', answer.message))
        else if (answer.version !== protocolVersion)
          reject(
            new RuntimeError(
              'Unavailable',
              `the shim speaks version ${answer.version}, this is version ${protocolVersion}`,
            ),
          )
        else resolve(socket)
      }
      socket.on('data', read)
      socket.on('error', (error) => reject(new NoAnswer(error.message)))
      socket.on('close', () => reject(new NoAnswer('the connection to the shim was closed')))
      socket.write(`${JSON.stringify(request)}\n`)
    })
  }
}

/** A socket path below the limit, in a directory that only this user may enter. */
function shortSocketPath(directory: string): string {
  const folder = path.join(
    tmpdir(),
    `coxswain-${process.getuid?.() ?? 0}-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`,
  )
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (statSync(folder).uid !== process.getuid?.())
    throw new RuntimeError('Unavailable', `${folder} belongs to another user`)
  return path.join(folder, 'shim.sock')
}
