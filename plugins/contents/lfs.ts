/** Pointers are small; what is larger is a file of its own right. */
export const largestPointer = 1024

const pointer =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-\S* \S*\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n?$/

/** What an LFS pointer names; undefined for every other content. */
export function readPointer(data: Buffer): { oid: string; size: number } | undefined {
  if (data.length > largestPointer) return undefined
  const match = pointer.exec(data.toString('latin1'))
  return match ? { oid: match[1] as string, size: Number(match[2]) } : undefined
}
