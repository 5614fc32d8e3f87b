import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GrpcServer } from '../../../src/grpc/server.ts'
import { methods } from '../../../src/node/runtimes/cri/methods.ts'
import { type RuntimeName, chooseRuntime } from '../../../src/cluster/parts/choose-runtime.ts'

let directory: string
const opened: GrpcServer[] = []
beforeEach(() => void (directory = mkdtempSync(path.join(tmpdir(), 'coxswain-choice-'))))
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close()
  rmSync(directory, { recursive: true })
})

const socket = (name: string) => path.join(directory, `${name}.sock`)

/** A container runtime that answers at a socket, and is ready or not. */
async function answering(name: string, isReady = true): Promise<string> {
  const conditions = ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: isReady, reason: 'Starting', message: 'cni plugin not initialized' }))
  const server = new GrpcServer()
    .unary(methods.version, () => ({ runtimeName: name, runtimeVersion: '1.7', runtimeApiVersion: 'v1', version: '0.1.0' }))
    .unary(methods.status, () => ({ status: { conditions } }))
  opened.push(server)
  await server.listen({ path: socket(name) })
  return socket(name)
}

const nodeDirectory = () => path.join(directory, 'node')
const choose = (runtime: RuntimeName, endpoint?: string) =>
  chooseRuntime(
    { runtime, directory: nodeDirectory(), ...(endpoint === undefined ? {} : { containerRuntime: { endpoint } }) },
    { sockets: ['containerd', 'crio'].map(socket) },
  )
/** The chosen runtime and its socket, or the error. */
const outcome = (runtime: RuntimeName, endpoint?: string): Promise<string> =>
  choose(runtime, endpoint).then(
    ({ nodes }) => [nodes.runtime, nodes.containerRuntime?.endpoint].filter(Boolean).join(' '),
    (error: Error) => error.message,
  )

/** Makes the directory that of a node with containers at this endpoint. */
function hadContainersAt(endpoint: string): void {
  mkdirSync(nodeDirectory())
  writeFileSync(path.join(nodeDirectory(), 'cri.json'), JSON.stringify({ endpoint, owner: 'n1.0', cgroupTree: 'coxswain-0' }))
}

describe('chooseRuntime()', () => {
  it('takes the first of the sockets that is ready with auto, else processes', async () => {
    expect(await outcome('auto')).toBe('process')
    const crio = await answering('crio')
    expect(await outcome('auto')).toBe(`cri ${crio}`)
    const containerd = await answering('containerd')
    expect(await outcome('auto')).toBe(`cri ${containerd}`)
  })

  it('takes processes with auto if the container runtime is not ready, but not with cri at an endpoint', async () => {
    const containerd = await answering('containerd', false)
    expect(await outcome('auto')).toBe('process')
    expect(await outcome('cri')).toContain('RuntimeReady=false cni plugin not initialized')
    expect(await outcome('cri', containerd)).toBe(`cri ${containerd}`)
  })

  it('says that nothing answers with cri', async () => {
    expect(await outcome('cri')).toBe('--runtime cri: no container runtime listens at the usual sockets')
    expect(await outcome('cri', socket('none'))).toContain('none.sock')
  })

  it.each(['process', 'simulated'] as const)('takes %s whatever answers', async (runtime) => {
    await answering('containerd')
    expect(await outcome(runtime)).toBe(runtime)
  })

  it('keeps the container runtime that has pods with auto, ready or not, and never takes another', async () => {
    await answering('containerd')
    hadContainersAt(socket('crio'))
    expect(await outcome('auto')).toMatch(/^--runtime auto: the pods of this node are containers, but the runtime does not answer: .*crio\.sock/)
    expect(await outcome('process')).toBe('process')
    const crio = await answering('crio', false)
    expect(await outcome('auto')).toBe(`cri ${crio}`)
    expect(await outcome('cri')).toBe(`cri ${crio}`)
    expect(await outcome('cri', socket('containerd'))).toBe(`cri ${socket('containerd')}`)
  })

  it('keeps processes with auto while there are pods, and not with cri', async () => {
    const containerd = await answering('containerd')
    const sandboxes = path.join(nodeDirectory(), 'runtime/sandboxes')
    mkdirSync(path.join(sandboxes, 'one'), { recursive: true })
    expect(await outcome('auto')).toBe('process')
    expect(await outcome('cri')).toBe(`cri ${containerd}`)
    rmSync(path.join(sandboxes, 'one'), { recursive: true })
    expect(await outcome('auto')).toBe(`cri ${containerd}`)
  })
})
