export type LabelTemplate = {
  readonly name: string
  readonly exclusive: boolean
  /** Six hexadecimal digits. */
  readonly color: string
  readonly description: string
}

const label = (name: string, color: string, description: string): LabelTemplate => ({
  name,
  exclusive: false,
  color,
  description,
})
const oneOf = (name: string, color: string, description: string): LabelTemplate => ({
  name,
  exclusive: true,
  color,
  description,
})

/** Sets of labels to start a repository with. */
export const labelSets: ReadonlyMap<string, readonly LabelTemplate[]> = new Map([
  [
    'Advanced',
    [
      label('Kind/Bug', 'ee0701', 'It does not do what it should'),
      label('Kind/Feature', '0288d1', 'Something that it cannot do yet'),
      label('Kind/Enhancement', '84b6eb', 'Something that it could do better'),
      label('Kind/Security', '9c27b0', 'It puts somebody or something at risk'),
      label('Kind/Testing', '795548', 'About tests'),
      label('Kind/Documentation', '37474f', 'About what is written for readers'),
      label('Compat/Breaking', 'c62828', 'Needs changes in what depends on it'),
      oneOf('Reviewed/Duplicate', '616161', 'The same is told elsewhere'),
      oneOf('Reviewed/Invalid', '546e7a', 'Nothing to do here'),
      oneOf('Reviewed/Confirmed', '795548', 'Seen by others, too'),
      oneOf("Reviewed/Won't Fix", 'eeeeee', 'It stays as it is'),
      oneOf('Status/Need More Info', '424242', 'Waits for an answer'),
      oneOf('Status/Blocked', '880e4f', 'Waits for something else'),
      oneOf('Status/Abandoned', '222222', 'Begun and left'),
      oneOf('Priority/Critical', 'b71c1c', 'Before everything else'),
      oneOf('Priority/High', 'd32f2f', 'Soon'),
      oneOf('Priority/Medium', 'e64a19', 'In its turn'),
      oneOf('Priority/Low', '4caf50', 'When there is time'),
    ],
  ],
  [
    'Default',
    [
      label('bug', 'ee0701', 'It does not do what it should'),
      label('duplicate', 'cccccc', 'The same is told elsewhere'),
      label('enhancement', '84b6eb', 'Something new, or something better'),
      label('help wanted', '128a0c', 'Whoever wants to help can begin here'),
      label('invalid', 'e6e6e6', 'Nothing to do here'),
      label('question', 'cc317c', 'Waits for an answer'),
      label('wontfix', 'ffffff', 'It stays as it is'),
    ],
  ],
])
