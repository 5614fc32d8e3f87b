import { type Server, type Socket, connect, createServer } from 'node:net'
import { listen } from '../../../base/listen.ts'
import { type SandboxConfig, SandboxNetworkError } from '../../runtime/runtime.ts'

type Mapping = SandboxConfig['portMappings'][number]

/** The address of host ports without a hostIP. */
const nodeAddress = '127.0.0.1'

/** Listens on host ports of pods, and forwards connections to the pods. */
export class HostPorts {
  readonly #servers = new Map<string, Server[]>()
  readonly #sockets = new Map<string, Set<Socket>>()

  /**
   * Rejects if a port is in use. A host port that equals the container port is not opened here, because the container
   * itself listens on it.
   */
  async open(sandboxId: string, mappings: readonly Mapping[], address: string): Promise<void> {
    const wanted = mappings.filter((m) => m.protocol === 'TCP' && m.hostPort > 0 && m.hostPort !== m.containerPort)
    if (wanted.length === 0) return
    this.#servers.set(sandboxId, [])
    this.#sockets.set(sandboxId, new Set())
    try {
      for (const mapping of wanted) this.#servers.get(sandboxId)!.push(await this.#listen(sandboxId, mapping, address))
    } catch (e) {
      this.close(sandboxId)
      throw e
    }
  }

  close(sandboxId: string): void {
    for (const server of this.#servers.get(sandboxId) ?? []) server.close()
    for (const socket of this.#sockets.get(sandboxId) ?? []) socket.destroy()
    this.#servers.delete(sandboxId)
    this.#sockets.delete(sandboxId)
  }

  closeAll(): void {
    for (const id of this.#servers.keys()) this.close(id)
  }

  async #listen(sandboxId: string, { hostPort, hostIp, containerPort }: Mapping, address: string): Promise<Server> {
    const sockets = this.#sockets.get(sandboxId)!
    const hold = (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      socket.on('error', () => socket.destroy())
    }
    const server = createServer({ allowHalfOpen: true }, (from) => {
      const to = connect({ host: address, port: containerPort, allowHalfOpen: true })
      hold(from)
      hold(to)
      from.pipe(to).pipe(from)
      from.once('close', () => to.destroy())
      to.once('close', () => from.destroy())
    })
    await listen(server, { port: hostPort, host: hostIp || nodeAddress }).catch(({ message }: Error) => {
      throw new SandboxNetworkError(`cannot open hostport ${hostPort} for pod: ${message}`)
    })
    return server
  }
}
