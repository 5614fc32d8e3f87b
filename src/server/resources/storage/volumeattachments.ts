import { kindNames } from '../../../api/kind-names.ts'
import { semanticEqual } from '../../../api/deep-equal.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentSpec,
  VolumeError,
} from '../../../api/generated/types.ts'
import { internalVolumeSource } from '../../../api/kinds/volumes/internal-volumes.ts'
import { defaultVolumeSource } from '../../../api/kinds/volumes/persistent-volume-source.ts'
import { validateInlineVolumeSpec } from '../../../api/kinds/volumes/persistent-volume-spec.ts'
import { roundResourcesUpToMilli } from '../../../api/kinds/quantities/resource-names.ts'
import { validateCsiDriverName } from '../../../api/kinds/volumes/volume-sources.ts'
import { immutableMessage } from '../../../api/validation/field-checks.ts'
import { type FieldError, forbidden, invalid, required, tooLong } from '../../../api/validation/field-error.ts'
import { byteLength, isDns1123Subdomain, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const maxMetadataSize = 256 * 1024
const maxErrorMessageSize = 1024
const specPath = Path.of('spec')
const statusPath = Path.of('status')

function validateSource(source: VolumeAttachmentSource, path: Path): FieldError[] {
  const { inlineVolumeSpec: inline, persistentVolumeName: name } = source
  const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (inline && name !== undefined) return [forbidden(path, exactlyOne)]
  if (inline) return validateInlineVolumeSpec(inline, path.child('inlineVolumeSpec'))
  if (name === undefined) return [required(path, exactlyOne)]
  return name === ''
    ? [required(path.child('persistentVolumeName'), 'must specify non empty persistentVolumeName')]
    : []
}

function validateSpec(spec: VolumeAttachmentSpec): FieldError[] {
  return [
    ...(spec.attacher ? [] : [required(specPath.child('attacher'))]),
    ...validateSource(spec.source, specPath.child('source')),
    ...isDns1123Subdomain(spec.nodeName ?? '').map((problem) =>
      invalid(specPath.child('nodeName'), spec.nodeName ?? '', problem),
    ),
  ]
}

function validateError(error: VolumeError | undefined, path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (byteLength(error?.message ?? '') > maxErrorMessageSize)
    errors.push(tooLong(path.child('message'), maxMetadataSize))
  if ((error?.errorCode ?? 0) < 0)
    errors.push(invalid(path.child('errorCode'), error!.errorCode, 'must be between 0 and 2147483647, inclusive'))
  return errors
}

function validateStatus(status: VolumeAttachment['status']): FieldError[] {
  const size = Object.entries(status.attachmentMetadata ?? {}).reduce(
    (sum, [key, value]) => sum + byteLength(key) + byteLength(value),
    0,
  )
  return [
    ...(size > maxMetadataSize ? [tooLong(statusPath.child('attachmentMetadata'), maxMetadataSize)] : []),
    ...validateError(status.attachError, statusPath.child('attachError')),
    ...validateError(status.detachError, statusPath.child('detachError')),
  ]
}

/** Validates names that had no rules before v1. */
function validateNames({ attacher, source }: VolumeAttachmentSpec): FieldError[] {
  const errors: FieldError[] = []
  if (attacher) validateCsiDriverName(attacher, specPath.child('attacher'), errors)
  const name = source.persistentVolumeName
  const path = specPath.child('source', 'persistentVolumeName')
  if (name !== undefined) errors.push(...isDns1123Subdomain(name).map((problem) => invalid(path, name, problem)))
  return errors
}

const judge = (attachment: VolumeAttachment): FieldError[] => [
  ...validateSpec(attachment.spec),
  ...validateStatus(attachment.status),
]

const internalSpec = ({ attacher, source, nodeName }: VolumeAttachmentSpec) => ({
  Attacher: attacher,
  Source: {
    PersistentVolumeName: source.persistentVolumeName ?? null,
    InlineVolumeSpec: source.inlineVolumeSpec ? internalVolumeSource(source.inlineVolumeSpec) : null,
  },
  NodeName: nodeName,
})

const validateUpdate = (attachment: VolumeAttachment, old: VolumeAttachment): FieldError[] => [
  ...judge(attachment),
  ...(semanticEqual(attachment.spec, old.spec)
    ? []
    : [invalid(specPath, internalSpec(attachment.spec), immutableMessage)]),
]

export const volumeattachments = defineResource<VolumeAttachment>({
  ...kindNames.volumeattachments,
  nameRule: subdomainName,
  allowUnconditionalUpdate: false,
  deleteAnswersObject: true,
  defaults({ spec }) {
    const inline = spec.source.inlineVolumeSpec
    if (!inline) return
    roundResourcesUpToMilli(inline.capacity)
    defaultVolumeSource(inline)
  },
  prepareForCreate(attachment) {
    attachment.status = { attached: false }
  },
  validate: (attachment) => [...judge(attachment), ...validateNames(attachment.spec)],
  validateUpdate,
  status: {
    prepare(attachment, old) {
      attachment.spec = old.spec
      const { labels: _l, annotations: _a, finalizers: _f, ownerReferences: _o, ...rest } = attachment.metadata
      const { labels, annotations, finalizers, ownerReferences } = old.metadata
      attachment.metadata = {
        ...rest,
        ...(labels && { labels }),
        ...(annotations && { annotations }),
        ...(finalizers && { finalizers }),
        ...(ownerReferences && { ownerReferences }),
      }
    },
    validate: validateUpdate,
  },
  columns: [
    nameColumn(),
    {
      name: 'Attacher',
      type: 'string',
      format: 'name',
      description: () => describeField('VolumeAttachmentSpec', 'attacher'),
      cell: (va) => va.spec.attacher,
    },
    {
      name: 'PV',
      type: 'string',
      description: () => describeField('VolumeAttachmentSource', 'persistentVolumeName'),
      cell: (va) => va.spec.source.persistentVolumeName ?? '',
    },
    {
      name: 'Node',
      type: 'string',
      description: () => describeField('VolumeAttachmentSpec', 'nodeName'),
      cell: (va) => va.spec.nodeName,
    },
    {
      name: 'Attached',
      type: 'boolean',
      description: () => describeField('VolumeAttachmentStatus', 'attached'),
      cell: (va) => va.status.attached,
    },
    ageColumn(),
  ],
})
