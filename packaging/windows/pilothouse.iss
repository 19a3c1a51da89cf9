; The setup program: for this person without an administrator, or for everybody with one (Inno Setup help).
[Setup]
AppId={{6E0B9C5D-0C1A-4C0E-9E6B-0A5D2B7C41F2}
AppName=Pilothouse
AppVersion={#Version}
AppPublisher=The Pilothouse developers
DefaultDirName={autopf}\Pilothouse
DefaultGroupName=Pilothouse
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
OutputDir={#Out}
OutputBaseFilename={#Name}
SetupIconFile={#Icon}
UninstallDisplayIcon={app}\pilothouse-window.exe
Compression=lzma2
SolidCompression=yes
WizardStyle=modern
ChangesEnvironment=yes
#ifdef Signed
SignTool=pilothouse
SignedUninstaller=yes
#endif

[Tasks]
Name: "path"; Description: "Add the command pilothouse to PATH"; Flags: unchecked

[InstallDelete]
; What an older version had and this one has not must not be imported.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "{#Bundle}\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\Pilothouse"; Filename: "{app}\pilothouse-window.exe"
Name: "{group}\Pilothouse (recorded incident)"; Filename: "{app}\pilothouse-window.exe"; Parameters: "demo"

[Registry]
Root: HKA; Subkey: "{code:EnvironmentKey}"; ValueType: expandsz; ValueName: "Path"; ValueData: "{code:PathWithOwn}"; Tasks: path; Check: NotInPath

[Code]
{ Pure functions: a test compiles them by themselves. }
function IsOwn(Entry, Own: String): Boolean;
begin
  Result := CompareText(RemoveBackslashUnlessRoot(Entry), RemoveBackslashUnlessRoot(Own)) = 0;
end;

{ The path but those of its entries that are Own, each compared as a whole; all others stay as they are. }
function Without(Entries, Own: String): String;
var
  Rest, Entry: String;
  Place: Integer;
  IsFirst: Boolean;
begin
  Result := '';
  Rest := Entries;
  IsFirst := True;
  repeat
    Place := Pos(';', Rest);
    if Place = 0 then
      Entry := Rest
    else
      Entry := Copy(Rest, 1, Place - 1);
    Delete(Rest, 1, Place);
    if not IsOwn(Entry, Own) then
    begin
      if not IsFirst then
        Result := Result + ';';
      Result := Result + Entry;
      IsFirst := False;
    end;
  until Place = 0;
end;

{ The path with Own as its last entry. }
function WithOwn(Entries, Own: String): String;
begin
  Result := Entries;
  if (Result <> '') and (Result[Length(Result)] <> ';') then
    Result := Result + ';';
  Result := Result + Own;
end;
{ End of the pure functions. }

function EnvironmentKey(Param: String): String;
begin
  if IsAdminInstallMode then
    Result := 'System\CurrentControlSet\Control\Session Manager\Environment'
  else
    Result := 'Environment';
end;

function PathBefore: String;
begin
  if not RegQueryStringValue(HKA, EnvironmentKey(''), 'Path', Result) then
    Result := '';
end;

function NotInPath: Boolean;
begin
  Result := Without(PathBefore, ExpandConstant('{app}')) = PathBefore;
end;

function PathWithOwn(Param: String): String;
begin
  Result := WithOwn(PathBefore, ExpandConstant('{app}'));
end;

procedure CurUninstallStepChanged(Step: TUninstallStep);
var
  Left: String;
begin
  if Step <> usPostUninstall then
    Exit;
  Left := Without(PathBefore, ExpandConstant('{app}'));
  if Left <> PathBefore then
    RegWriteExpandStringValue(HKA, EnvironmentKey(''), 'Path', Left);
end;
