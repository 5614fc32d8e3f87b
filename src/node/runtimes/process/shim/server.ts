import { existsSync, rmSync } from 'node:fs'
import { type Server, type Socket, connect, createServer } from 'node:net'
import type { Clock } from '../../../../base/clock.ts'
import { listen } from '../../../../base/listen.ts'
import { type Answer, type Ended, FrameReader, type Launch, type Request, frame, protocolVersion } from './protocol.ts'
import { Supervised } from './supervised.ts'

/** The time for which the shim stays without containers. */
const idleMs = 5000

/** The interval at which it checks whether its directory still exists. */
const lookMs = 2000

/** Holds the containers of one runtime, as their parent process. It outlives the agent. */
export class ShimServer {
  readonly #socketPath: string
  readonly #clock: Clock
  readonly #containers = new Map<string, Supervised>()
  readonly #watchers = new Set<Socket>()
  readonly #server: Server
  #cancelIdle = () => {}

  constructor(socketPath: string, clock: Clock) {
    this.#socketPath = socketPath
    this.#clock = clock
    this.#server = createServer({ allowHalfOpen: false }, (socket) => this.#accept(socket))
  }

  /** Resolves with false if another shim already listens. */
  async listen(): Promise<boolean> {
    if (!(await this.#tryToListen())) {
      if (await isAnswered(this.#socketPath)) return false
      // The socket of a shim that was killed.
      rmSync(this.#socketPath, { force: true })
      if (!(await this.#tryToListen())) return false
    }
    this.#maybeIdle()
    return true
  }

  #tryToListen(): Promise<boolean> {
    return listen(this.#server, { path: this.#socketPath }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') return false
        throw error
      },
    )
  }

  /**
   * Ends the shim and its containers when the directory with their state is removed, because no agent can find them
   * then.
   */
  endWith(directory: string): void {
    this.#clock.after(lookMs, () => {
      if (existsSync(directory)) return this.endWith(directory)
      for (const container of this.#containers.values()) container.kill()
      process.exit(1)
    })
  }

  /** Ends the shim if it has no containers. When the machine shuts down, they are ended first. */
  endIfIdle(): void {
    if (this.#containers.size > 0) return
    // Removes the socket first, so that the next agent starts another shim. Connections end with the process.
    rmSync(this.#socketPath, { force: true })
    process.exit(0)
  }

  #accept(socket: Socket): void {
    socket.on('error', () => socket.destroy())
    let head = Buffer.alloc(0)
    const read = (piece: Buffer) => {
      head = Buffer.concat([head, piece])
      const end = head.indexOf(0x0a)
      if (end === -1) return
      socket.off('data', read)
      socket.pause()
      const rest = head.subarray(end + 1)
      if (rest.length > 0) socket.unshift(rest)
      this.#serve(socket, head.subarray(0, end).toString()).catch((error: unknown) => {
        answer(socket, { ok: false, message: error instanceof Error ? error.message : String(error) })
        socket.end()
      })
    }
    socket.on('data', read)
  }

  async #serve(socket: Socket, line: string): Promise<void> {
    const request = JSON.parse(line) as Request
    switch (request.op) {
      case 'start':
        await this.#start(request.id, request.launch)
        break
      case 'stop':
        await this.#containers.get(request.id)?.stop(request.timeoutSeconds)
        break
      case 'attach':
        return this.#attach(socket, request.id, request.stdin)
      case 'watch':
        answer(socket, done)
        this.#watchers.add(socket)
        socket.on('close', () => this.#watchers.delete(socket)).resume()
        return
    }
    answer(socket, done)
    socket.end()
  }

  async #start(id: string, launch: Launch): Promise<void> {
    // A restarted agent may ask for a start that its predecessor has already requested.
    const known = this.#containers.get(id)
    if (known) return known.start()
    const container = new Supervised(id, launch, this.#clock)
    this.#cancelIdle()
    this.#containers.set(id, container)
    void container.ended.then(() => {
      this.#containers.delete(id)
      const line = `${JSON.stringify({ ended: id } satisfies Ended)}\n`
      for (const watcher of this.#watchers) watcher.write(line)
      this.#maybeIdle()
    })
    await container.start()
  }

  #attach(socket: Socket, id: string, stdin: boolean): void {
    const container = this.#containers.get(id)
    if (!container) throw new Error(`container ${id} is not running`)
    answer(socket, done)
    const leave = container.listen({
      output: (stream, piece) => void socket.write(frame(stream, piece)),
      ended(exitCode) {
        const content = Buffer.alloc(4)
        content.writeUInt32BE(exitCode)
        socket.end(frame('exit', content))
      },
    })
    const frames = new FrameReader()
    socket.on('data', (piece: Buffer) => {
      for (const { kind, content } of frames.read(piece)) {
        if (kind === 'stdin') container.input(content)
        else if (kind === 'stdinEnd') container.inputEnds()
        else if (kind === 'resize') container.resize(content.readUInt16BE(0), content.readUInt16BE(2))
      }
    })
    socket.on('close', () => {
      leave()
      if (stdin) container.inputEnds()
    })
    socket.resume()
  }

  #maybeIdle(): void {
    this.#cancelIdle()
    if (this.#containers.size === 0) this.#cancelIdle = this.#clock.after(idleMs, () => this.endIfIdle())
  }
}

const done: Answer = { ok: true, version: protocolVersion }

const answer = (socket: Socket, what: Answer) => void socket.write(`${JSON.stringify(what)}\n`)

const isAnswered = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(socketPath, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
