import { beforeAll, describe, expect, it } from 'vitest'
import { type ForeignBody, convertBody } from '../parsing/foreign-body.ts'
import { ServerTrial } from '../server-trial.ts'
import { apply } from './apply.ts'

let trial: ServerTrial
beforeAll(async () => {
  trial = await ServerTrial.open()
})

const head = '"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}'

/** Applies a text as the server does with a long body. `parsed` has the bodies that a parser thread would get. */
async function applied(text: string) {
  const turns: string[] = []
  const parsed: ForeignBody[] = []
  const request = trial.request('/api/v1/namespaces/default/configmaps/a', undefined, {
    query: new URLSearchParams({ fieldManager: 'me', force: 'true', dryRun: 'All' }),
    body: {
      bytes: Buffer.from(text),
      contentType: 'application/apply-patch+yaml',
      convert: async (body) => {
        parsed.push(body)
        return convertBody(body)
      },
      giveWay: async () => void turns.push('turn'),
    },
  })
  const answer = await apply(request).then(
    (result) => (result as { code: number }).code,
    (error: { message: string }) => error.message,
  )
  return { answer, isParsedElsewhere: parsed.length > 0, turns: turns.length }
}

describe('apply() of a long body', () => {
  it.each<[string, string, number | string, boolean]>([
    ['JSON', `{${head}, "data": {"a": "b"}}`, 201, false],
    ['block YAML', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n', 201, true],
    ['flow YAML', `{${head}, data: {a: b}}`, 201, true],
    ['JSON with a duplicate key', `{${head}, "data": {"a": "b", "a": "c"}}`, 201, true],
    ['what begins like JSON and is neither', `{${head}, "data": }}`, 'error decoding YAML: ', true],
    ['a list', '[1]', 'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array', false],
  ])('parses %s on the event loop only if it is JSON, and yields before and after', async (_, text, answer, isParsedElsewhere) => {
    const seen = await applied(text)
    if (typeof answer === 'number') expect(seen).toEqual({ answer, isParsedElsewhere, turns: 3 })
    else expect(seen).toEqual({ answer: expect.stringContaining(answer), isParsedElsewhere, turns: 1 })
  })
})
