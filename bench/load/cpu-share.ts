import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'
import { WebSocket } from 'ws'
import { cpuSeconds, pause } from './server.ts'

interface CallFrame {
  functionName: string
  url: string
  lineNumber: number
  columnNumber: number
}

interface Profile {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[]
  samples: number[]
}

/** CPU of a process over a while, as fractions of one core. */
export interface CpuShare {
  whole: number
  /** The part that ran in functions of the folder, or was called by them. Garbage collections are in `whole` alone. */
  folder: number
  /** The functions of the folder that are at the bottom of most of it, with their parts of it. */
  most: Record<string, number>
}

/** Reads which part of a program of ours the CPU goes to, by its inspector (`--inspect=127.0.0.1:PORT`). */
export class CpuShares {
  readonly #pid: number
  readonly #socket: WebSocket
  readonly #map: SourceMap
  readonly #answers = new Map<number, (result: unknown) => void>()
  #lastId = 0

  private constructor(pid: number, socket: WebSocket, program: string) {
    this.#pid = pid
    this.#socket = socket
    this.#map = new SourceMap(JSON.parse(readFileSync(path.resolve(path.dirname(program), '../dist/coxswain.program.js.map'), 'utf8')))
    socket.on('message', (data: Buffer) => {
      const { id, result } = JSON.parse(data.toString()) as { id?: number; result?: unknown }
      if (id !== undefined) this.#answers.get(id)?.(result)
    })
  }

  static async of(pid: number, port: number, program: string): Promise<CpuShares> {
    const [target] = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[]
    const socket = new WebSocket(target!.webSocketDebuggerUrl, { maxPayload: 1 << 30 })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    const shares = new CpuShares(pid, socket, program)
    await shares.#send('Profiler.enable')
    await shares.#send('Profiler.setSamplingInterval', { interval: 2000 })
    return shares
  }

  /** Measures for so long. `folder` is a part of the path of sources, such as `/dashboard/`. */
  async measure(ms: number, folder: string): Promise<CpuShare> {
    await this.#send('Profiler.start')
    const [cpu, at] = [cpuSeconds(this.#pid), performance.now()]
    await pause(ms)
    const whole = (cpuSeconds(this.#pid) - cpu) / ((performance.now() - at) / 1000)
    const { profile } = await this.#send<{ profile: Profile }>('Profiler.stop')
    const { part, most } = this.#partOf(profile, folder)
    return { whole, folder: whole * part, most }
  }

  close(): void {
    this.#socket.close()
  }

  #send<T>(method: string, params: object = {}): Promise<T> {
    const id = ++this.#lastId
    this.#socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve) => this.#answers.set(id, (result) => resolve(result as T)))
  }

  /** The part of all samples that are not idle whose stack has a function of the folder. */
  #partOf({ nodes, samples }: Profile, folder: string): { part: number; most: Record<string, number> } {
    /** The innermost function of the folder, by the node of a stack. */
    const inFolder = new Map<number, string>()
    const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id))
    // A node comes before its children.
    for (const { id, callFrame, children } of nodes) {
      const source = this.#sourceOf(callFrame)
      if (source.includes(folder)) inFolder.set(id, `${path.basename(source)}:${callFrame.functionName || callFrame.lineNumber}`)
      const name = inFolder.get(id)
      if (name !== undefined) for (const child of children ?? []) inFolder.set(child, name)
    }
    const busy = samples.filter((id) => !idle.has(id))
    const found = busy.flatMap((id) => inFolder.get(id) ?? [])
    const counts = new Map<string, number>()
    for (const name of found) counts.set(name, (counts.get(name) ?? 0) + 1)
    const most = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, 6).map(([name, count]) => [name, Number((count / found.length).toFixed(2))])
    return { part: found.length / Math.max(1, busy.length), most: Object.fromEntries(most) as Record<string, number> }
  }

  #sourceOf({ url, lineNumber, columnNumber }: CallFrame): string {
    if (!url.includes('coxswain.program')) return ''
    const entry = this.#map.findEntry(lineNumber, columnNumber) as { originalSource?: string }
    return entry.originalSource ?? ''
  }
}
