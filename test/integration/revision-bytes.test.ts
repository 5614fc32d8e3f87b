import { describe, expect, it } from 'vitest'
import { Client, HttpTransport, controllerrevisions } from '../../src/client/index.ts'
import { answerJson, startStub, stubAccess } from './client-stub.ts'
import type { TestServer } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const url = '/apis/apps/v1/namespaces/default/controllerrevisions'

const rows: [what: string, data: string][] = [
  ['a map, as Kubernetes writes it', '{"$patch":"replace","map":{"10":"\\u003cb\\u003e \\u0026 \\u2028","9":"ü🚢","a":""}}'],
  ['a struct, whose keys are not sorted', '{"size":0,"map":{"1":"x","a":"b"},"b":[{"z":null,"a":{}}],"a":1.5}'],
]

/** The `data` of the one revision in a text. */
function dataIn(text: string): string {
  const from = text.indexOf('"data":') + '"data":'.length
  return text.slice(from, text.indexOf(',"revision":', from))
}

const post = (body: Buffer | string, type: string) => {
  const headers = { 'content-type': type, accept: 'application/json' }
  return server.send({ method: 'POST', url, headers, body: Buffer.from(body as string) })
}
const posted = (data: string) =>
  post(`{"metadata":{"name":"r","labels":{"n":"1"}},"data":${data},"revision":1}`, 'application/json')

// Just enough of an encoder for a revision in protobuf.
const field = (number: number, value: Buffer | string): Buffer => {
  const bytes = Buffer.from(value as string)
  const long = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7]
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...long]), bytes])
}
const inProtobuf = (data: string): Buffer => {
  const revision = Buffer.concat([field(1, field(1, 'r')), field(2, field(1, data)), Buffer.from([3 << 3, 1])])
  const type = Buffer.concat([field(1, 'apps/v1'), field(2, 'ControllerRevision')])
  return Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, revision)])
}

describe.each(rows)('the data of a revision: %s', (_, data) => {
  it('is answered in the bytes in which it came: made, read, listed, stored', async () => {
    const made = await posted(data)
    expect([made.code, dataIn(made.text)]).toEqual([201, data])
    expect(dataIn((await server.get(`${url}/r`)).text)).toBe(data)
    expect(dataIn((await server.get(url)).text)).toBe(data)
    const { items } = await server.store.range('/registry/controllerrevisions/')
    expect(dataIn(items[0]!.value.toString())).toBe(data)
  })

  it('came in protobuf', async () => {
    const made = await post(inProtobuf(data), 'application/vnd.kubernetes.protobuf')
    expect([made.code, dataIn(made.text)]).toEqual([201, data])
  })

  it.each(['merge', 'strategic'] as const)('stays as it is when a %s patch changes something else', async (type) => {
    await posted(data)
    const patched = await server.patch(`${url}/r`, { metadata: { labels: { n: '2' } }, revision: 2 }, type)
    expect([patched.code, patched.body.revision, dataIn(patched.text)]).toEqual([200, 2, data])
  })

  it('stays as it is when the revision is replaced by what a client has read', async () => {
    await posted(data)
    const { body } = await server.get(`${url}/r`)
    const replaced = await server.update(`${url}/r`, { ...body, revision: 2 })
    expect([replaced.code, replaced.body.revision, dataIn(replaced.text)]).toEqual([200, 2, data])
  })

  it('is sent in these bytes by a client of ours', async () => {
    const bodies: string[] = []
    const stub = await startStub((request, response) => {
      let text = ''
      request.on('data', (chunk) => (text += String(chunk)))
      request.on('end', () => {
        bodies.push(text)
        answerJson(response, 201, JSON.parse(text))
      })
    })
    const client = new Client(new HttpTransport(stubAccess(stub.port), { env: {} }))
    try {
      const object = { metadata: { name: 'r', namespace: 'default' }, data: JSON.parse(data) as unknown, revision: 1 }
      await client.create(controllerrevisions, object)
      await client.update(controllerrevisions, object)
      expect(bodies.map(dataIn)).toEqual([data, data])
    } finally {
      await client.close()
      await stub.close()
    }
  })
})
