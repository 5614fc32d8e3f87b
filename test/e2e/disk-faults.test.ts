import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningServer, runCoxswain, startServer } from '../kubectl/coxswain.ts'
import { LoopDisk } from '../loop-disk.ts'
import { TlsClient } from './tls-client.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const json = { 'content-type': 'application/json' }

let disk: LoopDisk
let data: string
let server: RunningServer
let client: TlsClient

describe.skipIf(LoopDisk.problem())('an API server whose disk has a fault', () => {
  beforeEach(async () => {
    disk = LoopDisk.make(32)
    data = path.join(disk.path, 'data')
    server = await startServer(data)
    client = new TlsClient(server.kubeconfig)
  })
  afterEach(async () => {
    client.close()
    await server.stop('SIGKILL')
    disk.remove()
  })

  const create = (name: string) => client.http2({ method: 'POST', path: maps, headers: json, body: JSON.stringify({ metadata: { name }, data: { text: `${name} `.repeat(3000) } }) })
  const names = async () => (JSON.parse((await client.http2({ path: maps })).text) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('w')).sort()

  it('answers reads and probes while it hangs, and each write when it is on the disk', async () => {
    expect((await create('w-0')).code).toBe(201)
    disk.freeze()
    const answered: number[] = []
    const writes = Array.from({ length: 20 }, (_, i) => create(`w-${i + 1}`).then(({ code }) => {
      answered.push(code)
      return code
    }))
    for (let read = 0; read < 30; read++) {
      expect((await client.http2({ path: `${maps}/w-0` })).code).toBe(200)
      expect((await client.http2({ path: '/livez' })).code).toBe(200)
    }
    expect([answered, await names()]).toEqual([[], ['w-0']])
    disk.thaw()
    expect(await Promise.all(writes)).toEqual(writes.map(() => 201))
    expect(await names()).toHaveLength(21)
  })

  it('says that it is full, keeps what it has, and can be backed up elsewhere', async () => {
    const ballast = path.join(disk.path, 'ballast')
    try {
      for (const size of [1 << 20, 1 << 12]) for (let made = 0; made < 100; made++) writeFileSync(ballast, Buffer.alloc(size, 'x'), { flag: 'a' })
    } catch (e) {
      expect((e as NodeJS.ErrnoException).code).toBe('ENOSPC')
    }
    const kept: string[] = []
    let refusal = ''
    for (let i = 0; i < 500 && refusal === ''; i++) {
      const { code, text } = await create(`w-${i}`)
      if (code === 201) kept.push(`w-${i}`)
      else refusal = (JSON.parse(text) as { message: string }).message
    }
    expect(refusal).toContain('is full: free some space')
    expect(await names()).toEqual([...kept].sort())
    const file = `${disk.path}.backup`
    try {
      expect(await runCoxswain(['backup', file, '--data-dir', data])).toMatchObject({ code: 0 })
    } finally {
      rmSync(file, { force: true })
    }
    rmSync(ballast)
    expect((await create('w-again')).code).toBe(201)
    await server.stop()
    server = await startServer(data)
    client.close()
    client = new TlsClient(server.kubeconfig)
    expect(await names()).toEqual([...kept, 'w-again'].sort())
  })
})
