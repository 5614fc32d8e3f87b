import { describe, expect, it } from 'vitest'
import { DecodedTrial } from '../resource-trial.ts'
import { volumeattachments } from './volumeattachments.ts'

const trial = new DecodedTrial(volumeattachments)
const base = { attacher: 'example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } }
const inline = { accessModes: ['ReadWriteOnce'], csi: { driver: 'example.com', volumeHandle: 'h' } }
const inlined = (more: object) => ({ ...base, source: { inlineVolumeSpec: { ...inline, ...more } } })
const at = 'spec.source.inlineVolumeSpec'

describe('volumeattachments', () => {
  it('begin detached', () => {
    expect(trial.created({ spec: base, status: { attached: true } }).status).toEqual({ attached: false })
  })

  it.each<[string, object, string[]]>([
    ['a plain one', base, []],
    ['no attacher', { ...base, attacher: '' }, ['spec.attacher: Required value']],
    ['no source', { ...base, source: {} }, ['spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName']],
    ['both sources', { ...base, source: { persistentVolumeName: 'pv', inlineVolumeSpec: inline } }, [
      'spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
    ]],
    ['an inline volume', inlined({}), []],
    ['an inline volume with all that it may not have', inlined({
      capacity: { storage: '1Gi' }, persistentVolumeReclaimPolicy: 'Delete', storageClassName: 'sc', volumeMode: 'Block',
      nodeAffinity: { required: { nodeSelectorTerms: [] } },
    }), [
      `${at}.capacity: Forbidden: may not be specified in the context of inline volumes`,
      `${at}.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes`,
      `${at}.nodeAffinity: Forbidden: may not be specified in the context of inline volumes`,
      `${at}.storageClassName: Forbidden: may not be specified in the context of inline volumes`,
      `${at}.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes`,
    ]],
    ['an inline volume that is not CSI', { ...base, source: { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], hostPath: { path: '/d' } } } }, [
      `${at}.csi: Required value: has to be specified in the context of inline volumes`,
    ]],
  ])('says of %s', (_, spec, refusals) => {
    expect(trial.refusals({ spec })).toEqual(refusals)
  })

  it('judges an empty volume name twice', () => {
    expect(trial.refusals({ spec: { ...base, source: { persistentVolumeName: '' } } })).toEqual([
      'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
      expect.stringMatching(/^spec.source.persistentVolumeName: Invalid value: "": a lowercase RFC 1123 subdomain/),
    ])
  })

  it('stay as they are', () => {
    expect(trial.updateRefusals(trial.created({ spec: base }), { spec: { ...base, nodeName: 'm' } })).toEqual([
      'spec: Invalid value: {"Attacher":"example.com","Source":{"PersistentVolumeName":"pv","InlineVolumeSpec":null},"NodeName":"m"}: field is immutable',
    ])
  })

  it.each([
    ['a message too long', { attached: false, attachError: { message: 'x'.repeat(1025) } }, ['status.attachError.message: Too long: may not be more than 262144 bytes']],
    ['a negative code', { attached: false, detachError: { errorCode: -1 } }, [
      'status.detachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ]],
    ['metadata too long', { attached: true, attachmentMetadata: { a: 'x'.repeat(256 * 1024) } }, [
      'status.attachmentMetadata: Too long: may not be more than 262144 bytes',
    ]],
  ])('status says of %s', (_, status, refusals) => {
    expect(trial.statusRefusals(trial.created({ spec: base }), status)).toEqual(refusals)
  })

  it('do not take labels with the status', () => {
    const old = trial.created({ spec: base, metadata: { labels: { a: 'b' } } })
    const next = { ...old, metadata: { ...old.metadata, labels: { c: 'd' }, annotations: { e: 'f' } } }
    volumeattachments.status!.prepare(next, old, { gates: undefined as never, now: 0 })
    expect(next.metadata.labels).toEqual({ a: 'b' })
    expect(next.metadata.annotations).toBeUndefined()
  })
})
