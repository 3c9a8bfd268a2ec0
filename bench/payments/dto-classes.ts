import { IsInt, IsString, Length, Min } from 'class-validator';

/** Gives the host that many validated classes, as a large application has. */
export function registerDtoClasses(count: number): void {
  for (let number = 0; number < count; number += 1) {
    const { prototype } = class {};
    IsString()(prototype, 'name');
    Length(1, 100)(prototype, 'name');
    IsInt()(prototype, 'quantity');
    Min(1)(prototype, 'quantity');
  }
}
