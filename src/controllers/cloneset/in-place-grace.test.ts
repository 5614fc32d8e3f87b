import { describe, expect, it } from 'vitest'
import { graceAnnotation } from '../../api/kinds/in-place-update.ts'
import { type InPlaceGrace, readGrace, writeGrace } from './in-place-grace.ts'
import { samplePod } from './in-place-sample.ts'

describe('the grace annotation', () => {
  const grace: InPlaceGrace = { revision: 'web-r2', graceSeconds: 10, change: { images: { app: 'app:2' }, labels: { tier: 'x', old: null }, annotations: { note: 'é' } } }

  it('reads as it was written', () => {
    expect(readGrace(samplePod({ annotations: { [graceAnnotation]: writeGrace(grace) } }))).toEqual(grace)
  })

  it('has the form that OpenKruise gives it', () => {
    const { metaDataPatch, ...rest } = JSON.parse(writeGrace(grace)) as { metaDataPatch: string }
    expect(rest).toEqual({ revision: 'web-r2', containerImages: { app: 'app:2' }, graceSeconds: 10 })
    expect(JSON.parse(Buffer.from(metaDataPatch, 'base64').toString())).toEqual({ metadata: { labels: { tier: 'x', old: null }, annotations: { note: 'é' } } })
  })

  it.each(['{', 'null', '7', '{}'])('that says %s says nothing', (text) => {
    expect(readGrace(samplePod({ annotations: { [graceAnnotation]: text } }))).toBeUndefined()
  })
})
